# Generated from the registry by tools/from_registry.py.

from . import certificates as certificates
from . import cluster as cluster
from . import data as data
from . import decomposition as decomposition
from . import discriminant_analysis as discriminant_analysis
from . import distributed as distributed
from . import ensemble as ensemble
from . import estimation as estimation
from . import feature_extraction as feature_extraction
from . import information as information
from . import kernel_ridge as kernel_ridge
from . import kernels as kernels
from . import linear_model as linear_model
from . import losses as losses
from . import mixture as mixture
from . import model_selection as model_selection
from . import naive_bayes as naive_bayes
from . import neighbors as neighbors
from . import plot as plot
from . import preprocessing as preprocessing
from . import separation as separation
from . import spam as spam
from . import statistics as statistics
from . import svm as svm
from . import threads as threads
from . import trace as trace
from . import tree as tree
from . import workbench as workbench
from .certificates import Certificate as Certificate
from .certificates import Claim as Claim
from .certificates import certify as certify
from .cluster import AgglomerativeClustering as AgglomerativeClustering
from .cluster import ClusterNumber as ClusterNumber
from .cluster import ClusterQuality as ClusterQuality
from .cluster import ConsensusClustering as ConsensusClustering
from .cluster import KMeans as KMeans
from .cluster import MiniBatchKMeans as MiniBatchKMeans
from .cluster import choose_k as choose_k
from .cluster import cluster_quality as cluster_quality
from .cluster import kmeans_plusplus as kmeans_plusplus
from .decomposition import PCA as PCA
from .discriminant_analysis import FisherDiscriminant as FisherDiscriminant
from .discriminant_analysis import LinearDiscriminantAnalysis as LinearDiscriminantAnalysis
from .discriminant_analysis import QuadraticDiscriminantAnalysis as QuadraticDiscriminantAnalysis
from .ensemble import AdaBoostClassifier as AdaBoostClassifier
from .ensemble import BaggingClassifier as BaggingClassifier
from .ensemble import BaggingRegressor as BaggingRegressor
from .ensemble import ExtraTreesClassifier as ExtraTreesClassifier
from .ensemble import ExtraTreesRegressor as ExtraTreesRegressor
from .ensemble import HistGradientBoostingClassifier as HistGradientBoostingClassifier
from .ensemble import HistGradientBoostingRegressor as HistGradientBoostingRegressor
from .ensemble import RandomForestClassifier as RandomForestClassifier
from .ensemble import RandomForestRegressor as RandomForestRegressor
from .ensemble import VotingClassifier as VotingClassifier
from .explanation import Explanation as Explanation
from .explanation import explain as explain
from .feature_extraction import CountVectorizer as CountVectorizer
from .feature_extraction import HashingVectorizer as HashingVectorizer
from .feature_extraction import TfidfTransformer as TfidfTransformer
from .feature_extraction import TfidfVectorizer as TfidfVectorizer
from .kernels import KernelLogisticRegression as KernelLogisticRegression
from .kernels import KernelPerceptron as KernelPerceptron
from .kernels import KernelRidge as KernelRidge
from .linear_model import AveragedPerceptron as AveragedPerceptron
from .linear_model import ElasticNet as ElasticNet
from .linear_model import ElasticNetCV as ElasticNetCV
from .linear_model import Lasso as Lasso
from .linear_model import LassoCV as LassoCV
from .linear_model import LeastSquaresClassifier as LeastSquaresClassifier
from .linear_model import LinearRegression as LinearRegression
from .linear_model import LogisticRegression as LogisticRegression
from .linear_model import LogisticRegressionCV as LogisticRegressionCV
from .linear_model import Perceptron as Perceptron
from .linear_model import PocketPerceptron as PocketPerceptron
from .linear_model import Ridge as Ridge
from .linear_model import RidgeCV as RidgeCV
from .linear_model import enet_path as enet_path
from .linear_model import lasso_path as lasso_path
from .linear_model import ridge_path as ridge_path
from .mixture import GaussianMixture as GaussianMixture
from .model_selection import BiasVariance as BiasVariance
from .model_selection import GridSearchCV as GridSearchCV
from .model_selection import SealedTest as SealedTest
from .model_selection import bias_variance as bias_variance
from .model_selection import cross_val_score as cross_val_score
from .model_selection import cross_validate as cross_validate
from .model_selection import train_dev_test_split as train_dev_test_split
from .naive_bayes import BernoulliNB as BernoulliNB
from .naive_bayes import CategoricalNB as CategoricalNB
from .naive_bayes import ComplementNB as ComplementNB
from .naive_bayes import GaussianNB as GaussianNB
from .naive_bayes import MixedNB as MixedNB
from .naive_bayes import MultinomialNB as MultinomialNB
from .naive_bayes import TreeAugmentedNB as TreeAugmentedNB
from .neighbors import KNeighborsClassifier as KNeighborsClassifier
from .neighbors import KNeighborsRegressor as KNeighborsRegressor
from .neighbors import NearestCentroid as NearestCentroid
from .neighbors import NearestNeighbors as NearestNeighbors
from .preprocessing import BasisExpansion as BasisExpansion
from .preprocessing import Discretizer as Discretizer
from .preprocessing import Standardizer as Standardizer
from .separation import Separability as Separability
from .separation import separability as separability
from .spam import SpamFilter as SpamFilter
from .svm import SVC as SVC
from .svm import SVR as SVR
from .svm import LinearSVC as LinearSVC
from .svm import LinearSVR as LinearSVR
from .trace import Trace as Trace
from .tree import ConjunctionClassifier as ConjunctionClassifier
from .tree import DecisionTreeClassifier as DecisionTreeClassifier
from .tree import DecisionTreeRegressor as DecisionTreeRegressor
from .tree import MofNClassifier as MofNClassifier
from .workbench import Clustering as Clustering
from .workbench import Comparison as Comparison
from .workbench import cluster_table as cluster_table
from .workbench import compare as compare
from .workbench import load_model as load_model
from .workbench import save_model as save_model

__version__: str
__all__ = [
    "PCA",
    "SVC",
    "SVR",
    "AdaBoostClassifier",
    "AgglomerativeClustering",
    "AveragedPerceptron",
    "BaggingClassifier",
    "BaggingRegressor",
    "BasisExpansion",
    "BernoulliNB",
    "BiasVariance",
    "CategoricalNB",
    "Certificate",
    "Claim",
    "ClusterNumber",
    "ClusterQuality",
    "Clustering",
    "Comparison",
    "ComplementNB",
    "ConjunctionClassifier",
    "ConsensusClustering",
    "CountVectorizer",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "Discretizer",
    "ElasticNet",
    "ElasticNetCV",
    "Explanation",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "FisherDiscriminant",
    "GaussianMixture",
    "GaussianNB",
    "GridSearchCV",
    "HashingVectorizer",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "KMeans",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "KernelLogisticRegression",
    "KernelPerceptron",
    "KernelRidge",
    "Lasso",
    "LassoCV",
    "LeastSquaresClassifier",
    "LinearDiscriminantAnalysis",
    "LinearRegression",
    "LinearSVC",
    "LinearSVR",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MiniBatchKMeans",
    "MixedNB",
    "MofNClassifier",
    "MultinomialNB",
    "NearestCentroid",
    "NearestNeighbors",
    "Perceptron",
    "PocketPerceptron",
    "QuadraticDiscriminantAnalysis",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "Ridge",
    "RidgeCV",
    "SealedTest",
    "Separability",
    "SpamFilter",
    "Standardizer",
    "TfidfTransformer",
    "TfidfVectorizer",
    "Trace",
    "TreeAugmentedNB",
    "VotingClassifier",
    "bias_variance",
    "certify",
    "choose_k",
    "cluster_quality",
    "cluster_table",
    "compare",
    "cross_val_score",
    "cross_validate",
    "enet_path",
    "explain",
    "kmeans_plusplus",
    "lasso_path",
    "load_model",
    "ridge_path",
    "save_model",
    "separability",
    "train_dev_test_split",
]
