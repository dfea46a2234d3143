# hbmview. `make help` lists the targets.
#
#     build/gen/             made from proto/*.proto and web/ (no generated file is committed)
#     build/$(MODE)/obj/     objects; MODE is release (the default), asan, ubsan, tsan, coverage or fuzz; clang has its own
#     build/hbmview          the program (release, gcc); in the other modes build/$(MODE)/hbmview
#     build/static/hbmview-$(MACHINE)   one file without shared libraries (make static), objects in build/static/$(MACHINE)
#     .cache/static/         its compiler's wrappers and libraries; `make clean` keeps them
#
# Variables: CC=clang  WERROR=1  V=1 (show commands)  MODE=asan  BUILD=build  STORAGE=no (local files only: no libcurl)
#     CORPUS=../shared/corpus  PREFIX=/usr/local  DESTDIR=  HOSTCC=gcc (programs that the build itself runs)
#     MACHINE=aarch64 (of make static; both when it is not named)

ifeq ($(origin CC),default)
CC = gcc
endif
HOSTCC ?= $(if $(IS_STATIC),gcc,$(CC))
MODE ?= release
BUILD ?= build
CORPUS ?= ../shared/corpus
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
IS_CLANG := $(findstring clang,$(CC))
DIR = $(BUILD)/$(MODE)$(if $(IS_CLANG),-clang)
GEN = $(BUILD)/gen
BIN = $(if $(filter $(BUILD)/release,$(DIR)),$(BUILD)/hbmview,$(DIR)/hbmview)
PKG_CONFIG ?= pkg-config
# The static mode takes compiler and libraries from a folder that scripts/packaging/build-static-libraries fills.
IS_STATIC := $(filter static,$(MODE))
ifneq ($(IS_STATIC),)
STATIC_HOME = $(CURDIR)/.cache/static/$(MACHINE)
CC = $(STATIC_HOME)/bin/cc
AR = $(STATIC_HOME)/bin/ar
PKG_CONFIG = PKG_CONFIG_LIBDIR=$(STATIC_HOME)/lib/pkgconfig pkg-config
CRYPTO = mbedtls
DIR = $(BUILD)/$(MODE)/$(MACHINE)
BIN = $(BUILD)/$(MODE)/hbmview-$(MACHINE)
endif

# --- Flags ---
WARNINGS = -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Wformat=2 \
    -Wwrite-strings -Wswitch-enum -Wpointer-arith -Wcast-qual -Werror=implicit-function-declaration \
    $(if $(WERROR),$(if $(filter release,$(MODE)),-Werror))
SANITIZE = -O1 -g -DIS_INSTRUMENTED -fno-omit-frame-pointer -fno-sanitize-recover=all -fsanitize=
# What makes a mistake in memory harder to use, as far as the compiler has it. tests/packaging/test_hardening.py reads
# the program that comes out.
has_flag = $(shell echo 'int i;' | $(CC) -Werror -O2 $(1) -c -x c -o /dev/null - 2>/dev/null && echo yes)
first_flag = $(firstword $(foreach flag,$(2),$(if $(call has_flag,$(1) $(flag)),$(flag))))
HARDENING = -fPIE -fstack-protector-strong -fstack-clash-protection
HARDENED_LINK = -Wl,-z,relro,-z,now,-z,noexecstack
ifeq ($(MODE),release)
FLAGS_release := -O2 -g -ffile-prefix-map=$(CURDIR)=. $(HARDENING) $(call first_flag,,-fcf-protection=full -mbranch-protection=standard) \
    -U_FORTIFY_SOURCE $(call first_flag,-include stdio.h,-D_FORTIFY_SOURCE=3 -D_FORTIFY_SOURCE=2)
endif
# The linker says so by itself only where the C library's start files do, which on Debian they do not: what is in them
# returns to where it was called from, as the shadow stack wants, but does not begin as calls would have to (ibt).
SHADOW_STACK = -Wl,-z,shstk
LDFLAGS_release = -pie $(HARDENED_LINK) $(if $(findstring -fcf-protection,$(FLAGS_release)),$(SHADOW_STACK))
FLAGS_asan = $(SANITIZE)address,undefined
FLAGS_ubsan = $(SANITIZE)undefined
FLAGS_tsan = $(SANITIZE)thread
FLAGS_fuzz = $(SANITIZE)fuzzer-no-link,address,undefined
FLAGS_coverage = -O0 -g -DIS_INSTRUMENTED -DARENA_ASKS_FOR_EACH_PIECE --coverage -fprofile-update=atomic
FLAGS_static = -O2 -g0 -flto $(HARDENING) -fno-sanitize=undefined -ffunction-sections -fdata-sections \
    -ffile-prefix-map=$(CURDIR)=.
LDFLAGS_static = -static-pie $(HARDENED_LINK) -Wl,--gc-sections -s
ifndef FLAGS_$(MODE)
$(error MODE=$(MODE) is not one of release, asan, ubsan, tsan, coverage, fuzz, static)
endif
# Buckets and web servers need libcurl, and libcrypto for signing. Without them (STORAGE=no) the program opens local
# files, and server/storage/no_object_storage.c says why it opens nothing else.
CRYPTO ?= openssl
CRYPTO_PACKAGE = $(if $(filter mbedtls,$(CRYPTO)),mbedtls,libcrypto)
STORAGE ?= $(if $(shell $(PKG_CONFIG) --exists libcurl $(CRYPTO_PACKAGE) && echo found),yes,no)
IS_LOCAL := $(filter no,$(STORAGE))
PACKAGES = libmicrohttpd jansson libprotobuf-c zlib $(if $(IS_LOCAL),,libcurl $(CRYPTO_PACKAGE))
CFLAGS ?= $(FLAGS_$(MODE))
LDFLAGS += $(LDFLAGS_$(MODE))
PACKAGE_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PACKAGES))
PACKAGE_LIBS := $(shell $(PKG_CONFIG) --libs $(PACKAGES))
$(if $(PACKAGE_LIBS),,$(warning Libraries are missing: run scripts/install-deps))
$(if $(IS_LOCAL),$(warning Building for local files only. For gs://, s3:// and https:// install libcurl4-openssl-dev and libssl-dev (scripts/install-deps does)))
CPPFLAGS += -I. -isystem $(GEN) -D_POSIX_C_SOURCE=200809L -D_FILE_OFFSET_BITS=64 $(PACKAGE_CFLAGS)
LDLIBS += $(PACKAGE_LIBS) -lpthread -lm
COMPILE = $(CC) -std=c17 $(CPPFLAGS) $(CFLAGS)
HEADERS_USED = -MD -MP
LINK = $(CC) $(CFLAGS) $(LDFLAGS)
say = $(if $(V),,@printf '  %-6s %s\n' $(1) $@;)
link = $(call say,LINK)mkdir -p $(@D) && $(LINK) -o $@ $(filter %.o %.a,$^) $(LDLIBS)

# --- Sources ---
PROTO = $(wildcard proto/*.proto)
CORE_SRC = $(wildcard proto/*.c analysis/*/*.c analysis/*/*/*.c)
ALL_SERVER_SRC = $(wildcard server/*.c server/*/*.c)
STAND_IN_SRC = server/storage/no_object_storage.c
STORAGE_SRC = $(filter-out $(STAND_IN_SRC) $(addprefix server/storage/,opened_storage.c small_file.c),$(wildcard server/storage/*.c))
OTHER_CRYPTO_SRC = $(filter-out server/storage/crypto_$(CRYPTO).c,$(wildcard server/storage/crypto_*.c))
SERVER_SRC = $(filter-out $(if $(IS_LOCAL),$(STORAGE_SRC),$(STAND_IN_SRC) $(OTHER_CRYPTO_SRC)),$(ALL_SERVER_SRC))
NEEDS_STORAGE = $(if $(IS_LOCAL),$(shell grep -l '"server/storage/' tests/unit/*.c tests/fuzz/*.c))
ALL_UNIT_SRC = $(wildcard tests/unit/test_*.c)
UNIT_SRC = $(filter-out $(NEEDS_STORAGE),$(ALL_UNIT_SRC))
UNIT_SHARED_SRC = $(filter-out $(ALL_UNIT_SRC),$(wildcard tests/unit/*.c))
FUZZ_SRC = $(filter-out $(NEEDS_STORAGE),$(wildcard tests/fuzz/fuzz_*.c))
WEB_FILES = $(filter-out %.md,$(shell find web -type f 2>/dev/null | LC_ALL=C sort))
PAGE_PACKAGES = $(addprefix node_modules/,uplot/dist/uPlot.esm.js uplot/dist/uPlot.min.css esbuild/package.json)
SAMPLE = tests/fixtures/logdir/plugins/profile/v5e_gpt_12layer_oom/tpu-vm-0.xplane.pb.gz
HEADERS = $(wildcard proto/*.h analysis/*/*.h analysis/*/*/*.h server/*.h server/*/*.h tests/*/*.h)
C_FILES = $(CORE_SRC) $(ALL_SERVER_SRC) $(UNIT_SHARED_SRC) $(ALL_UNIT_SRC) $(wildcard tests/fuzz/*.c tests/bench/*.c tests/http/*.c tests/faults/*.c) scripts/embed_assets.c

object = $(patsubst %.c,$(DIR)/obj/%.o,$(1))
GEN_SRC = $(PROTO:%.proto=$(GEN)/%.pb-c.c)
GEN_OBJ = $(GEN_SRC:$(GEN)/%.c=$(DIR)/gen/%.o)
GENERATED = $(GEN_SRC) $(GEN)/version.h
CORE_LIB = $(DIR)/libcore.a
ASSETS_OBJ = $(DIR)/gen/assets.o
SERVER_OBJ = $(call object,$(filter-out server/main.c,$(SERVER_SRC))) $(ASSETS_OBJ)
UNIT_BIN = $(UNIT_SRC:tests/unit/%.c=$(DIR)/tests/%)
FUZZ_BIN = $(FUZZ_SRC:tests/fuzz/%.c=$(DIR)/replay/%)

# --- The program ---
.DELETE_ON_ERROR:
.PHONY: all core programs
all: $(BIN)  ## build/hbmview (the default)
core: $(CORE_LIB)  ## the analysis library alone
.PHONY: server-programs
programs: $(BIN) $(UNIT_BIN) $(FUZZ_BIN)  ## the program and its C tests, without running them
SERVER_UNIT_BIN = $(filter $(DIR)/tests/test_server_%,$(UNIT_BIN))
server-programs: $(BIN) $(SERVER_UNIT_BIN)

MACHINES = x86_64 aarch64
.PHONY: static $(MACHINES:%=static-%)
static: $(if $(MACHINE),static-$(MACHINE),$(MACHINES:%=static-%))  ## one file without shared libraries for each machine: build/static/hbmview-x86_64 and -aarch64
$(MACHINES:%=static-%): static-%: | $(GEN)/assets.c ; scripts/packaging/build-static $*

$(BIN): $(call object,server/main.c) $(SERVER_OBJ) $(CORE_LIB)
	$(link)

$(CORE_LIB): $(call object,$(CORE_SRC)) $(GEN_OBJ) $(DIR)/sources
	$(call say,AR)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

$(DIR)/obj/%.o: %.c $(DIR)/flags | $(GENERATED)
	@mkdir -p $(@D)
	$(call say,CC)$(COMPILE) $(WARNINGS) $(UNIT_FLAGS) $(HEADERS_USED) -c -o $@ $<

# Stamps, written while the Makefile is read and only when what they say has changed: a new compiler or flag compiles
# everything again, a new or removed source links again. A dry run (make -n) writes none.
IS_DRY := $(findstring n,$(firstword -$(MAKEFLAGS)))
stamp = $(if $(IS_DRY),,$(shell mkdir -p $(dir $(1)); printf '%s\n' '$(2)' | cmp -s - $(1) || printf '%s\n' '$(2)' >$(1)))
$(call stamp,$(DIR)/flags,$(COMPILE) $(WARNINGS) $(HEADERS_USED))
$(call stamp,$(DIR)/sources,$(CORE_SRC) $(SERVER_SRC) $(PROTO) $(LDFLAGS) $(LDLIBS))

# --- Generated code ---
$(DIR)/gen/%.o: $(GEN)/%.c $(DIR)/flags
	@mkdir -p $(@D)
	$(call say,CC)$(COMPILE) -w $(HEADERS_USED) -c -o $@ $<

$(GEN)/proto/%.pb-c.c $(GEN)/proto/%.pb-c.h: proto/%.proto
	@mkdir -p $(GEN)
	$(call say,PROTO)protoc-c --c_out=$(GEN) $<

$(GEN)/version.h: VERSION
	@mkdir -p $(@D)
	$(call say,GEN)printf '#define HBMVIEW_VERSION "%s"\n' "$$(cat $<)" > $@

EMBED = $(GEN)/embed_assets
$(EMBED): scripts/embed_assets.c
	@mkdir -p $(@D)
	$(call say,CC)$(HOSTCC) -std=c17 -O2 $(WARNINGS) -D_POSIX_C_SOURCE=200809L -o $@ $< -lz

# A source distribution brings the page, the man page and the completions, which need node, ready made.
PAGE = $(if $(wildcard page/index.html),page,$(GEN)/page)
$(GEN)/page/index.html: scripts/build-page.mjs $(WEB_FILES) $(shell find web -type d) $(PAGE_PACKAGES)
	$(call say,PAGE)node scripts/build-page.mjs web $(@D)

$(GEN)/assets.c: $(EMBED) $(PAGE)/index.html $(SAMPLE)
	$(call say,EMBED)$(EMBED) $@ sample/tpu-vm-0.xplane.pb=$(SAMPLE) \
	    $$(find $(PAGE) -type f | sed 's|^$(PAGE)/\(.*\)|\1=&|')

$(PAGE_PACKAGES) &:
	npm ci

# --- Tests ---
# Programs named *_server_* see the server's parts too; the others only the core.
SHARED_OBJ = $(call object,$(UNIT_SHARED_SRC))
DRIVER_OBJ = $(call object,tests/fuzz/driver.c)
$(DIR)/obj/tests/unit/%.o: UNIT_FLAGS = $(shell pkg-config --cflags cmocka)
$(DIR)/tests/%: LDLIBS += $(shell pkg-config --libs cmocka)
$(DIR)/tests/test_server_%: $(DIR)/obj/tests/unit/test_server_%.o $(SHARED_OBJ) $(SERVER_OBJ) $(CORE_LIB) ; $(link)
$(DIR)/tests/%: $(DIR)/obj/tests/unit/%.o $(SHARED_OBJ) $(CORE_LIB) ; $(link)
$(DIR)/replay/fuzz_server_%: $(DIR)/obj/tests/fuzz/fuzz_server_%.o $(DRIVER_OBJ) $(SERVER_OBJ) $(CORE_LIB) ; $(link)
$(DIR)/replay/%: $(DIR)/obj/tests/fuzz/%.o $(DRIVER_OBJ) $(CORE_LIB) ; $(link)
$(DIR)/fuzz_%: LDLIBS += -fsanitize=fuzzer
WIRE_FUZZ = advice compare device_memory groups hlo memory_profile server_documents server_profile wire xspace
$(WIRE_FUZZ:%=$(DIR)/fuzz_%): $(call object,tests/fuzz/wire_mutator.c)
$(DIR)/fuzz_server_%: $(DIR)/obj/tests/fuzz/fuzz_server_%.o $(SERVER_OBJ) $(CORE_LIB) ; $(link)
$(DIR)/fuzz_%: $(DIR)/obj/tests/fuzz/fuzz_%.o $(CORE_LIB) ; $(link)

.SECONDARY:
# With TURNS=6 what takes long is done by sixths, one with each commit: so CI has done all of it after six.
TURN := $(if $(TURNS),$(shell expr $$(git rev-list --count HEAD) % $(TURNS)))
this_turn = $(if $(TURNS),$(shell echo $(1) | tr ' ' '\n' | awk 'NR % $(TURNS) == $(TURN)'),$(1))

.PHONY: check check-unit check-golden check-http check-cli check-scripts check-packaging check-fleet check-fit check-fit-previous check-proxy check-notebook check-web check-browser check-fuzz check-corpus
check: check-unit check-golden check-http check-cli check-scripts check-packaging check-web check-browser check-fuzz  ## all tests of this mode
UNIT_WANTED = $(if $(ONLY),$(ONLY:%=$(DIR)/tests/%),$(UNIT_BIN))
check-unit: $(UNIT_WANTED)  ## C tests of the parts (cmocka); ONLY=test_wire runs one
	tests/run-unit.sh $^
check-golden: $(BIN)  ## XProf's recorded answers for tests/fixtures
	HBMVIEW=$(BIN) tests/run-golden.sh tests/fixtures
HTTP_TESTS = $(patsubst tests/http/%.py,%,$(wildcard tests/http/test_*.py))
check-http: $(BIN)  ## the program seen from outside (python3)
	$(if $(TURNS),ONLY='$(call this_turn,$(HTTP_TESTS))') HBMVIEW=$(BIN) tests/run-python.sh http
.PHONY: check-python check-python-types
check: check-python
check-python: $(BIN)  ## the Python package (python3)
	HBMVIEW=$(BIN) tests/run-python.sh python
CLI_TESTS = $(patsubst tests/cli/%.py,%,$(wildcard tests/cli/test_*.py))
check-cli: $(BIN)  ## the commands for terminals and CI (python3)
	$(if $(TURNS),ONLY='$(call this_turn,$(CLI_TESTS))') HBMVIEW=$(BIN) tests/run-python.sh cli
.PHONY: mutate-inputs
N ?= 600
mutate-inputs: $(BIN)  ## every prefix of small inputs and N mutations of all kinds, through commands and server; N=100000, MODE=asan
	TURNS=$(TURNS) TURN=$(TURN) HBMVIEW=$(BIN) PYTHONDONTWRITEBYTECODE=1 python3 tests/inputs/mutate_inputs.py $(N)
.PHONY: check-faults
check: check-faults
check-faults: $(BIN)  ## each allocation, read, open, look, write and thread fails once: an error or the right answer; HBMVIEW_FAULTS=all: every one of them (slow)
	HBMVIEW=$(BIN) tests/run-python.sh faults
check-agents: $(BIN)  ## hbmview mcp through the protocol's own client package (from PyPI, once)
	PYTHON=$$(scripts/test-venv agents) HBMVIEW=$(BIN) tests/run-python.sh agents
check-openapi: $(BIN)  ## /api/v1/openapi.json against the server, by schemathesis and jsonschema (from PyPI, once)
	PYTHON=$$(scripts/test-venv openapi) HBMVIEW=$(BIN) tests/run-python.sh openapi
check-scripts: programs  ## the Makefile and the scripts themselves (python3)
	HBMVIEW=$(BIN) tests/run-python.sh scripts
check-packaging: $(BIN) share  ## what is installed beside the program: completions, man page, unit, one version (python3)
	HBMVIEW=$(BIN) tests/run-python.sh packaging
check-fit: $(BIN)  ## steps compiled ahead of time for TPUs, with jax and libtpu (python3, its own packages)
	HBMVIEW=$(BIN) PYTHON=$$(scripts/test-venv fit) tests/run-python.sh fit
check-fit-previous: $(BIN)  ## the same by the jax before, as a CI job uses it
	HBMVIEW=$(BIN) PYTHON=$$(scripts/test-venv fit_previous) ONLY=test_command tests/run-python.sh fit
check-fleet: $(BIN)  ## a bucket of sessions as one table, on Ray (python3, its own packages)
	HBMVIEW=$(BIN) PYTHON=$$(scripts/test-venv fleet) tests/run-python.sh fleet
check-proxy: $(BIN)  ## behind nginx, a notebook's proxy and a tunnel: replicas, metrics, the page (slow)
	HBMVIEW=$(BIN) PYTHON=$$(scripts/test-venv proxy) tests/run-python.sh proxy
	HBMVIEW=$(BIN) PYTHON=$$(scripts/test-venv proxy) tests/run-node.sh proxied
check-notebook: $(BIN)  ## notebooks run by their kernel, and looked at in JupyterLab and Notebook; tables (slow)
	HBMVIEW=$(BIN) PYTHON=$$(scripts/test-venv notebook) tests/run-python.sh notebook
	HBMVIEW=$(BIN) PYTHON=$$(scripts/test-venv notebook) tests/run-node.sh notebook
check-delivery: release  ## the wheels, packages and checksums of a release, as their users get them (slow)
	HBMVIEW=$(BIN) PYTHON=$$(scripts/test-venv delivery) tests/run-python.sh delivery
check-web: $(BIN)  ## the page's modules (node)
	tests/run-node.sh unit
check-browser: $(BIN)  ## the page in a real browser
	HBMVIEW=$(BIN) tests/run-node.sh browser
check-fuzz: $(FUZZ_BIN)  ## replay the fuzz corpus, with mutations
	tests/run-fuzz.sh $(FUZZ_BIN)
.PHONY: check-static $(MACHINES:%=check-static-%) check-static-storage
check-static: check-static-x86_64 check-static-storage  ## the x86-64 file of make static: alone in an empty root, equal to the ordinary build, with buckets
	STATIC=$(CURDIR)/$(BUILD)/static/hbmview-x86_64 HBMVIEW=$(BIN) ONLY=test_hardening tests/run-python.sh packaging
check-static-aarch64: export UNDER = qemu-aarch64-static  ## the aarch64 file under qemu-user, the same tests
$(MACHINES:%=check-static-%): check-static-%: $(BIN) static-%
	STATIC=$(CURDIR)/$(BUILD)/static/hbmview-$* HBMVIEW=$(BIN) CORPUS='$(CORPUS)' tests/run-python.sh static
check-static-storage: static-x86_64
	for suite in storage certificates credentials; do \
	    HBMVIEW=$(BUILD)/static/hbmview-x86_64 ONLY=test_$$suite tests/run-python.sh http || exit 1; \
	done
.PHONY: check-static-sanitized
SANITIZED_STATIC = -O1 -g -fPIE -fsanitize=undefined -fsanitize-trap=undefined
check-static-sanitized:  ## the static program's own libraries with undefined behaviour as a trap: fuzz corpus, golden answers (slow)
	scripts/packaging/build-static x86_64 BUILD=$(BUILD)/sanitized CFLAGS='$(SANITIZED_STATIC)' check-fuzz check-golden
.PHONY: check-reproducible
check-reproducible: $(BIN)  ## the same sources give the same program in another folder (slow: it is built there)
	HBMVIEW=$(BIN) tests/run-python.sh reproducible
check-corpus: $(BIN) $(DIR)/tests/test_temporaries  ## the wide comparison with XProf, when CORPUS is there; packings
	@if [ -d '$(CORPUS)' ]; then HBMVIEW=$(BIN) tests/run-corpus.sh '$(CORPUS)' && $(MAKE) --no-print-directory bench-packing; else echo 'no corpus at $(CORPUS)'; fi

.PHONY: check-agents check-openapi
.PHONY: asan ubsan tsan valgrind fuzz coverage mutate
asan:  ## the tests under AddressSanitizer and UBSan
	$(MAKE) --no-print-directory -Otarget MODE=asan check-unit check-fuzz check-golden check-http check-cli
ubsan:  ## the C tests under UBSan alone
	$(MAKE) --no-print-directory -Otarget MODE=ubsan check-unit check-fuzz
tsan:  ## the server's tests under ThreadSanitizer
	$(MAKE) --no-print-directory -Otarget MODE=tsan check-unit-server check-http
valgrind: valgrind-c valgrind-http  ## no byte is read before it is written: C tests, fuzz corpus, commands, golden answers and the server under memcheck
fuzz:  ## look for crashes: make fuzz T=xspace FUZZ_SECONDS=600
	$(MAKE) MODE=fuzz CC=clang fuzz-run T=$(T)
.PHONY: fuzz-all fuzz-each fuzz-coverage trust-report
fuzz-all:  ## every fuzz target (T='advice hlo': some) for S seconds of the processor (60), with executions a second
	$(MAKE) MODE=fuzz CC=clang fuzz-each
fuzz-each: $(if $(T),$(T:%=$(DIR)/fuzz_%),$(FUZZ_SRC:tests/fuzz/%.c=$(DIR)/%))
	S=$(S) scripts/fuzz-all $^
FUZZ_COVERED = advice hlo_text memory_profile oom_message server_documents server_explain server_profile
fuzz-coverage:  ## how much of their code the slower fuzz targets reach from their corpus
	$(MAKE) MODE=coverage $(FUZZ_COVERED:%=$(BUILD)/coverage/replay/fuzz_%)
	scripts/fuzz-coverage $(BUILD)/coverage
trust-report:  ## the figures of SECURITY.md's promises, into docs/trust.md; ONLY='fuzz soak' for some
	scripts/trust-report $(ONLY)
mutate:  ## do the tests see changes for the worse? ONLY='gzip plan' for some (tests/mutations/)
	scripts/mutate $(ONLY)
SOAK_SECONDS ?= 1800
.PHONY: soak
soak: $(BIN)  ## hundreds of clients, awkward ones too, while files change underneath: make soak SOAK_SECONDS=120 MODE=tsan
	HBMVIEW=$(BIN) python3 tests/soak/soak.py $(SOAK_SECONDS)
coverage:  ## which lines and branches of analysis, proto and server the tests reach: build/coverage/summary.txt
	rm -rf $(BUILD)/coverage/*.txt && find $(BUILD)/coverage -name '*.gcda' -delete 2>/dev/null || true
	$(MAKE) -k MODE=coverage check-unit check-fuzz check-golden check-cli check-http check-agents check-faults
	scripts/coverage $(BUILD)/coverage

.PHONY: check-unit-server fuzz-run
check-unit-server: $(SERVER_UNIT_BIN)
	$(if $^,tests/run-unit.sh $^)

# Not MemorySanitizer: it wants every library rebuilt by clang, and those that are rebuilt (make static) are for musl, for
# which it has no runtime. valgrind looks into libraries as they are.
# Left out: test_byte_source, which inflates until it has done the most that is allowed; of the HTTP tests those that ask for
# what takes minutes there, and those that look at the process itself: how much memory it holds, and its sandbox, which
# valgrind has no system calls for.
MEMCHECK = valgrind --quiet --suppressions=tests/memcheck.supp --error-exitcode=99 --leak-check=no
NOT_UNDER_VALGRIND = $(patsubst %,$(DIR)/tests/test_%,byte_source)
HTTP_NOT_UNDER_VALGRIND = $(patsubst %,test_%,advise awkward_clients memory_given_back unwritten_memory sandbox)
.PHONY: valgrind-c valgrind-unit valgrind-fuzz valgrind-commands valgrind-golden valgrind-http
valgrind-c: valgrind-unit valgrind-fuzz valgrind-commands valgrind-golden
valgrind-unit: $(call this_turn,$(filter-out $(NOT_UNDER_VALGRIND),$(UNIT_BIN)))
	UNDER='$(MEMCHECK)' tests/run-unit.sh $^
valgrind-fuzz: $(call this_turn,$(FUZZ_BIN))
	UNDER='$(MEMCHECK)' HBMVIEW_FUZZ_MUTATIONS=2 tests/run-fuzz.sh $^
valgrind-commands: $(BIN)
	UNDER='$(MEMCHECK)' HBMVIEW=$(BIN) tests/run-memcheck-commands.sh
valgrind-golden: $(BIN)
	UNDER='$(MEMCHECK)' HBMVIEW=$(BIN) tests/run-golden.sh
VALGRIND_HTTP = $(call this_turn,$(filter-out $(HTTP_NOT_UNDER_VALGRIND),$(HTTP_TESTS)))
valgrind-http: $(BIN)
	ONLY='$(if $(ONLY),$(ONLY),$(VALGRIND_HTTP))' UNDER='$(MEMCHECK)' HBMVIEW=$(BIN) tests/run-python.sh http
fuzz-run: $(DIR)/fuzz_$(T)
	@mkdir -p $(BUILD)/fuzz-found/$(T) tests/fuzz/corpus/$(T)
	$< -max_total_time=$(FUZZ_SECONDS) -artifact_prefix=$(BUILD)/fuzz-found/ $(BUILD)/fuzz-found/$(T) tests/fuzz/corpus/$(T)

# --- Care of the sources ---
.PHONY: lint check-layers check-style check-types check-headers tidy format format-check compile_commands.json
lint:  ## all checks of the sources; of C files, those that changed since they last passed; TIDY=no without clang-tidy
	@$(MAKE) --no-print-directory -k -Otarget $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc)) $(LINT)
LINT = check-layers check-style check-types check-python-types check-headers format-check $(if $(filter no,$(TIDY)),,tidy)
check-layers check-style:
	@scripts/$@
check-python-types:  ## the Python package by mypy, as strictly as it can
	$$(scripts/test-venv types) -m mypy --cache-dir=$(BUILD)/mypy
check-types:  ## the page's modules by TypeScript, as their @ts-check says
	node_modules/.bin/tsc -p .

# A stamp for each file that passed: it is looked at again when it, a header it uses, the flags or the rules have changed.
PASSED = $(BUILD)/passed
$(call stamp,$(PASSED)/flags,$(COMPILE) $(WARNINGS))
note_headers_used = $(COMPILE) -w -M -MP -MT $@ -MF $@.d -x c $<
check-headers: $(HEADERS:%=$(PASSED)/headers/%)  # every header compiles alone
$(PASSED)/headers/%: % $(PASSED)/flags | $(GENERATED)
	@mkdir -p $(@D)
	$(call say,HEADER)echo '#include "$<"' | $(COMPILE) $(WARNINGS) -Werror -x c -fsyntax-only - && $(note_headers_used) && touch $@
# With TURNS clang's analyzer, nine tenths of the time, looks at the files of this turn only.
TIDIED = $(filter-out $(OTHER_CRYPTO_SRC),$(C_FILES))  # not the file whose library is not here
NOT_THIS_TURN := $(filter-out $(call this_turn,$(TIDIED)),$(TIDIED))
TIDY_PASSED = $(PASSED)/tidy$(if $(TURNS),-turn-$(TURN))
tidy: $(TIDIED:%=$(TIDY_PASSED)/%)
$(TIDY_PASSED)/%: % $(PASSED)/flags .clang-tidy tests/.clang-tidy | $(GENERATED)
	@mkdir -p $(@D)
	$(call say,TIDY)clang-tidy --quiet $(if $(filter $<,$(NOT_THIS_TURN)),--checks=-clang-analyzer-*) $< -- -std=c17 $(CPPFLAGS) && $(note_headers_used) && touch $@
.PHONY: analyze
analyze: | $(GENERATED)  ## gcc's static analyzer over the program's sources: nothing is left without an answer (a minute)
	scripts/analyze $(CORE_SRC) $(SERVER_SRC) -- gcc -std=c17 $(CPPFLAGS)
format:  ## clang-format in place
	clang-format -i $(C_FILES) $(HEADERS)
format-check:  # by the version that .clang-format is written for; others differ in details
	@clang-format --version | grep -q 'version 14\.' && clang-format --dry-run --Werror $(C_FILES) $(HEADERS) || \
	    { clang-format --version | grep -v 'version 14\.'; }
compile_commands.json:  ## for editors
	@{ echo '['; for f in $(C_FILES); do printf '%s{"directory": "%s", "file": "%s", "command": "%s"}\n' "$$comma" \
	    '$(CURDIR)' "$$f" "$(COMPILE) -c $$f"; comma=,; done; echo ']'; } > $@

LARGE = $(BUILD)/bench/large/plugins/profile/large/tpu-vm-0.xplane.pb
$(LARGE): tests/bench/large_program.py tests/bench/xspace_bytes.py
	@mkdir -p $(@D)
	$(call say,LARGE)python3 $< $@

.PHONY: bench bench-http bench-lockout bench-xprof bench-page bench-storage bench-static bench-advice bench-packing count-lines clean help
bench: $(BIN) $(DIR)/bench_analysis  ## times of this program; BENCH_INPUT=FILE for another profile
	HBMVIEW=$(BIN) BENCH_ANALYSIS=$(DIR)/bench_analysis scripts/bench
bench-xprof: $(BIN) $(DIR)/bench_analysis  ## the same work against XProf and xprof-rs
	HBMVIEW=$(BIN) BENCH_ANALYSIS=$(DIR)/bench_analysis scripts/bench-xprof
bench-page: $(BIN) $(LARGE)  ## the page against a bare one, and a large program against a small one
	HBMVIEW=$(BIN) HBMVIEW_BROWSER=$$(scripts/find-browser) node tests/bench/page_speed.js $(BUILD)/bench/large
bench-http: $(BIN)  ## warm answers beside nginx serving the same bytes (apt: wrk, nginx-light)
	HBMVIEW=$(BIN) scripts/bench-http
bench-lockout: $(BIN)  ## how long one waits for an answer beside a thousand awkward clients of each kind
	HBMVIEW=$(BIN) scripts/bench-lockout
bench-storage: $(BIN)  ## profiles in buckets: requests, bytes, seconds; XPROF_VENV and XPROF_RS_VENV for the peers
	HBMVIEW=$(BIN) scripts/bench-storage
bench-static: $(BIN) static-x86_64 $(LARGE)  ## the static file beside the ordinary program: CPU of the same work, as ratios
	scripts/bench-static $(BUILD)/static/hbmview-x86_64 $(BIN)
bench-advice: $(BIN)  ## predicted against recompiled programs; PAIRS='gpt_scan_12 dense_8/halve_batch' for some
	HBMVIEW=$(BIN) scripts/bench-advice $(PAIRS)
bench-packing: $(DIR)/tests/test_temporaries  ## temporaries packed as the compiler does, against its own figure, over CORPUS
	PACKING_ROOT='$(CORPUS)/logdir' $<
count-lines:  ## lines of the program by room; SINCE=COMMIT compares
	@scripts/count-lines $(SINCE)
$(DIR)/bench_analysis: $(call object,$(wildcard tests/bench/*.c)) $(SERVER_OBJ) $(CORE_LIB) ; $(link)

# --- What is delivered: docs/install.md ---
# The man page and the shells' completions are the same for every machine: made of the flags of a program that runs here.
SHARE = $(if $(wildcard share/man),share,$(BUILD)/share)
SHARED_FILES = man/man1/hbmview.1 bash-completion/completions/hbmview zsh/site-functions/_hbmview \
    fish/vendor_completions.d/hbmview.fish
UNIT_FILE = lib/systemd/system/hbmview.service
$(SHARED_FILES:%=$(BUILD)/share/%) &: $(BIN) $(wildcard scripts/packaging/*.mjs) scripts/packaging/hbmview.1.roff CHANGELOG.md
	$(call say,SHARE)node scripts/packaging/describe.mjs $(BIN) $(BUILD)/share
.PHONY: share install uninstall
share: $(SHARED_FILES:%=$(SHARE)/%)  ## the man page and the completions of bash, zsh and fish: build/share
install: $(BIN) share  ## to $(DESTDIR)$(PREFIX): program, man page, completions, systemd unit
	install -D -m 755 $(BIN) '$(DESTDIR)$(PREFIX)/bin/hbmview'
	@for file in $(SHARED_FILES); do install -D -m 644 "$(SHARE)/$$file" "$(DESTDIR)$(PREFIX)/share/$$file"; done
	@mkdir -p '$(DESTDIR)$(PREFIX)/lib/systemd/system'
	@sed 's|@BINDIR@|$(PREFIX)/bin|' scripts/packaging/hbmview.service >'$(DESTDIR)$(PREFIX)/$(UNIT_FILE)'
uninstall:  ## removes what install wrote
	rm -f '$(DESTDIR)$(PREFIX)/bin/hbmview' '$(DESTDIR)$(PREFIX)/$(UNIT_FILE)' $(SHARED_FILES:%='$(DESTDIR)$(PREFIX)/share/%')
.PHONY: wheel deb release
wheel: share static  ## wheels for both machines and the source distribution: build/dist
	scripts/packaging/build-wheel $(BUILD)/dist
deb: share static  ## Debian packages for both machines: build/dist
	scripts/packaging/build-deb $(BUILD)/dist
release: share static  ## all that is delivered, with checksums and a bill of materials: build/dist (docs/install.md)
	scripts/packaging/make-release $(BUILD)/dist
clean: ; rm -rf $(BUILD) compile_commands.json
help:
	@sed -n 's/^\([a-z0-9_.-]*\):[^#]*## \(.*\)/  \1|\2/p' Makefile | column -t -s '|'

-include $(shell find $(DIR) $(PASSED) -name '*.d' 2>/dev/null)
