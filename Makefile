# make demo    install into .venv, compare models on a table, certify and trace fits
# make test    install into .venv and run all checks
# make bench   side-by-side timings with the peers (ONLY=name for some, SHOW=name for stored details)
# make bench-scale   fits of more rows than fit in memory (ROWS=50000000), beside the peers
# make docs    draw the README's pictures and build the documentation
# make lint    the quick checks alone
# make fuzz    attacks on certificates in exact arithmetic, on fits, files and tables, and new examples
#              for every property test
# make new-model NAME=NearestThing KIND=classifier|regressor|clusterer PACKAGE=neighbors
#              writes module, test and page of a new estimator
# make peer-tests  scikit-learn's own tests with our classes in place of theirs

PYTHON ?= python3
BIN := .venv/bin
STAMPS := .venv/stamps
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test bench bench-scale docs lint fuzz new-model peer-tests clean
.DELETE_ON_ERROR:

demo: $(STAMPS)/demo
	@$(BIN)/python examples/demo.py

test: $(STAMPS)/test $(STAMPS)/chromium $(STAMPS)/maildrop
	@$(BIN)/python tools/test.py $(ARGS)

bench: $(STAMPS)/bench
	@$(BIN)/python -m benchmarks $(foreach name,$(ONLY),--only "$(name)") $(foreach name,$(SHOW),--show "$(name)")

ROWS ?= 50000000
bench-scale: $(STAMPS)/bench
	@$(BIN)/python -m benchmarks.scale --rows $(ROWS)

docs: $(STAMPS)/test
	@$(BIN)/python docs/readme_figures.py
	@$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

lint: $(STAMPS)/test
	@$(BIN)/python tools/test.py --only lint

fuzz: $(STAMPS)/test
	@$(BIN)/python -m tests.attacks --tries $(or $(TRIES),1000)
	@$(BIN)/python -m tests.robustness.attacks --tries $(or $(TRIES),1000)
	@HYPOTHESIS_PROFILE=explore $(BIN)/python -m pytest -q -n auto --dist worksteal -m hypothesis tests $(ARGS)

new-model: $(STAMPS)/test
	@$(BIN)/python tools/new_model.py $(NAME) $(KIND) $(PACKAGE)

peer-tests: $(STAMPS)/test
	@$(BIN)/python tools/peer_tests.py $(ARGS)

clean:
	rm -rf .venv docs/_build docs/api run.html report.html

# One stamp per extra: made anew when the package's own list of needs changes.
$(STAMPS)/venv:
	$(PYTHON) -m venv .venv
	@mkdir -p $(STAMPS)
	-@$(BIN)/python -m pip install --quiet uv
	@touch $@

$(STAMPS)/demo: EXTRA := cli,tables
$(STAMPS)/test: EXTRA := test
$(STAMPS)/bench: EXTRA := bench
$(STAMPS)/demo $(STAMPS)/test $(STAMPS)/bench: $(STAMPS)/venv pyproject.toml
	@echo "installing rosenblatt[$(EXTRA)] into .venv"
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode -e ".[$(EXTRA)]" \
		|| $(BIN)/python -m pip install --quiet -e ".[$(EXTRA)]"
	@touch $@

# The page is tested in a real browser, from Debian's packages where they can be installed;
# elsewhere its tests skip, and say so.
$(STAMPS)/chromium: $(STAMPS)/venv
	@command -v chromium >/dev/null || { \
		command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] \
		&& echo "installing chromium" && apt-get update -qq \
		&& DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
			chromium fonts-dejavu-core >/dev/null; \
	} || echo "Chromium is not here and cannot be installed: tests of the page will skip."
	@touch $@

# Mail is delivered through the spam filter by a real delivery agent where one can be installed.
$(STAMPS)/maildrop: $(STAMPS)/chromium
	@command -v maildrop >/dev/null || { \
		command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] \
		&& echo "installing maildrop" && { apt-get update -qq; \
		DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends maildrop >/dev/null; }; \
	} || echo "maildrop is not here and cannot be installed: its test will skip."
	@touch $@
