/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The command lines of other tools: what each becomes in own options, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/compat/compat.h"
#include "cli/compat/peer.h"
#include "cli/option_table.h"

#define WORDS 32

static struct br2pgo_error error;

/* What a command line, its words split by blanks, becomes: joined by blanks, or "help", or "own"
 * when it is no other tool's, or "" when it is refused. */
static const char *read_line(const char *line)
{
    static char words[1024];
    static char own[1024];
    char *argv[WORDS];
    int argc = 0;
    snprintf(words, sizeof words, "%s", line);
    for (char *at = words; *at != '\0' && argc < WORDS; argc++) {
        argv[argc] = at;
        at += strcspn(at, " ");
        if (*at == ' ') {
            *at++ = '\0';
        }
    }
    memset(&error, 0, sizeof error);
    struct br2_compat compat = {0};
    int rc = br2_compat_read(argc, argv, &compat, &error);
    snprintf(own, sizeof own, "%s", rc != 0 ? "" : compat.help ? "help" : "");
    size_t used = 0;
    for (size_t i = 0; rc == 0 && i < compat.count; i++) {
        used += (size_t)snprintf(own + used, sizeof own - used, "%s%s", i != 0 ? " " : "",
                                 compat.words[i]);
    }
    bool theirs = compat.peer != NULL;
    br2_compat_done(&compat);
    return rc == 0 && !theirs ? "own" : own;
}

static void assert_becomes(const char *line, const char *own)
{
    const char *got = read_line(line);
    assert_string_equal(error.message, "");
    assert_string_equal(got, own);
}

static void assert_refused(const char *line, const char *message, const char *hint)
{
    assert_string_equal(read_line(line), "");
    assert_string_equal(error.message, message);
    assert_string_equal(error.hint, hint);
}

static void test_names(void **state)
{
    (void)state;
    assert_becomes("br2pgo perf.data -o x", "own");
    assert_becomes("/usr/bin/br2pgo perf.data", "own");
    assert_becomes("llvm-objdump x", "own");
    assert_becomes("llvm-profgen-new --help", "own");
    assert_becomes("br2pgo --compatible", "own");
    assert_becomes("llvm-profgen --help", "help");
    assert_becomes("/usr/lib/llvm-19/bin/llvm-profgen -help", "help");
    assert_becomes("./llvm-profgen-19.1 --help", "help");
    assert_becomes("perf2bolt-22 -h", "help");
    assert_becomes("create_llvm_prof --helpfull", "help");
    assert_becomes("create_gcov --help=true", "help");
    assert_becomes("br2pgo --compat perf2bolt --help", "help");
    assert_becomes("br2pgo --compat=create_gcov -help", "help");
    assert_becomes("create_gcov --version", "br2pgo --version");
    assert_refused("br2pgo --compat llvm-progfen",
                   "--compat does not know the command line of "
                   "'llvm-progfen'",
                   "did you mean 'llvm-profgen'?");
    assert_refused("br2pgo --compat gcc", "--compat does not know the command line of 'gcc'",
                   "it takes llvm-profgen, perf2bolt, create_llvm_prof, create_gcov, "
                   "llvm-profdata or profile_merger");
    assert_refused("br2pgo --compat", "--compat does not know the command line of ''",
                   "it takes llvm-profgen, perf2bolt, create_llvm_prof, create_gcov, "
                   "llvm-profdata or profile_merger");
}

static void test_llvm_profgen(void **state)
{
    (void)state;
    static const char plain[] = "br2pgo -b app -f llvm-extbinary -o x -- p";
    assert_becomes("llvm-profgen --perfdata=p --binary=app --output=x", plain);
    assert_becomes("llvm-profgen -perfdata p -binary app -o x", plain);
    assert_becomes("llvm-profgen-19 --perfscript p --binary=app -o=x", plain);
    assert_becomes("llvm-profgen --ps=p --binary app --output x", plain);
    assert_becomes("llvm-profgen --pd p --binary app --output x --format=extbinary", plain);
    assert_becomes("llvm-profgen --up p --binary app --output x --show-density=0", plain);
    assert_becomes("llvm-profgen --unsymbolized-profile=p --binary=app --output=x "
                   "--ignore-stack-samples --use-dwarf-correlation=TRUE --color --kernel",
                   plain);
    assert_becomes("llvm-profgen --perfdata=p --binary=app --output=x --format=text",
                   "br2pgo -b app -f llvm-text -o x -- p");
    assert_becomes("llvm-profgen --perfdata=p --binary=app --output=x --format binary",
                   "br2pgo -b app -f llvm-binary -o x -- p");
    assert_becomes("llvm-profgen --perfdata=p --binary=app --output=x --skip-symbolization "
                   "--format=text",
                   "br2pgo -b app -f unsymbolized -o x -- p");
    assert_becomes("llvm-profgen --perfdata=p --binary=app --output=x --skip-symbolization "
                   "--skip-symbolization=false",
                   "br2pgo -b app -f llvm-extbinary -o x -- p");
    assert_becomes("llvm-profgen --perfdata=p --binary=app --output=x --pid=7 --debug-binary d "
                   "--use-md5 --populate-profile-symbol-list --show-detailed-warning",
                   "br2pgo --pid 7 --debug-binary d --md5 --symbol-list --verbose -b app -f "
                   "llvm-extbinary -o x -- p");
    assert_becomes("llvm-profgen --perfdata=- --binary=app --output=- --use-md5 --use-md5=0",
                   "br2pgo -b app -f llvm-extbinary -o - -- -");
}

static void test_perf2bolt(void **state)
{
    (void)state;
    static const char plain[] = "br2pgo -b app -f fdata -o x -- p";
    assert_becomes("perf2bolt -p p -o x app", plain);
    assert_becomes("perf2bolt app -p p -o x", plain);
    assert_becomes("perf2bolt -p=p -o=x -- app", plain);
    assert_becomes("perf2bolt --perfdata p -o x app -pa -nl=false -profile-format=fdata", plain);
    assert_becomes("perf2bolt -p p -o x app app --no-threads -thread-count 4", plain);
    assert_becomes("perf2bolt -p p -o x app -ignore-build-id --pid=12 -v=1",
                   "br2pgo --pid 12 --ignore-build-id --verbose -b app -f fdata -o x -- p");
    assert_becomes("perf2bolt -p p -o x -- -app", "br2pgo -b -app -f fdata -o x -- p");
    assert_becomes("perf2bolt -p p -o x app -v 0", plain);
}

static void test_autofdo(void **state)
{
    (void)state;
    assert_becomes("create_llvm_prof --out=x", "br2pgo -b a.out -f llvm-text -o x -- perf.data");
    assert_becomes("create_llvm_prof --binary=app --profile=p --out=x --format=extbinary",
                   "br2pgo -b app -f llvm-extbinary -o x -- p");
    assert_becomes("create_llvm_prof -binary app -profile p -gcov x -format binary",
                   "br2pgo -b app -f llvm-binary -o x -- p");
    assert_becomes("create_llvm_prof --out=x --gcov=x --profiler=text --use_lbr --v=0",
                   "br2pgo -b a.out -f llvm-text -o x -- perf.data");
    assert_becomes("create_llvm_prof --out=x --prof-sym-list --use_lbr=YES --nouse_fs_discriminator"
                   " --suffix_elision_policy=none --ignore_build_id --sample_threshold_frac=0",
                   "br2pgo --symbol-list --names none --ignore-build-id -b a.out -f llvm-text -o x "
                   "-- perf.data");
    assert_becomes("create_gcov", "br2pgo -b data.binary -f gcov -o fbdata.afdo -- perf.data");
    assert_becomes("create_gcov --binary=app --profile=p --gcov=x -gcov_version=1",
                   "br2pgo --gcov-version 1 -b app -f gcov -o x -- p");
    assert_becomes("create_gcov --binary=app --profile=p --gcov=x -gcov_version 2 --logtostderr",
                   "br2pgo --gcov-version 2 -b app -f gcov -o x -- p");
}

/* What has no meaning in the tool either. */
static void test_invalid(void **state)
{
    (void)state;
    assert_refused("llvm-profgen --binary=app --output=x", "no recording given",
                   "usage: llvm-profgen --perfdata=FILE --binary=FILE --output=FILE [OPTION...]");
    assert_refused("llvm-profgen --perfdata=p --output=x", "no binary given",
                   "usage: llvm-profgen --perfdata=FILE --binary=FILE --output=FILE [OPTION...]");
    assert_refused("perf2bolt -p p app", "no output given",
                   "usage: perf2bolt -p FILE -o FILE [OPTION...] BINARY");
    assert_refused("llvm-profgen --perfdata=p --perfscript=q",
                   "two recordings are given: 'p' and 'q'", "give one");
    assert_refused("perf2bolt -p p -o x app other", "two binaries are given: 'app' and 'other'",
                   "give one");
    assert_refused("llvm-profgen --perfdata=p app", "llvm-profgen takes no argument 'app'",
                   "usage: llvm-profgen --perfdata=FILE --binary=FILE --output=FILE [OPTION...]");
    assert_refused("llvm-profgen --perfdat=p",
                   "option '--perfdat=p' is not one of those taken in place of llvm-profgen",
                   "did you mean '--perfdata'?");
    assert_refused("perf2bolt -reorder-blocks=ext-tsp",
                   "option '-reorder-blocks=ext-tsp' is not one of those taken in place of "
                   "perf2bolt",
                   "those that are: br2pgo --compat perf2bolt --help");
    assert_refused("create_gcov --nobinary",
                   "option '--nobinary' is not one of those taken in place of create_gcov",
                   "did you mean '--binary'?");
    assert_refused("llvm-profgen --use-md5=yes", "option '--use-md5' does not take 'yes'",
                   "it takes true or false");
    assert_refused("llvm-profgen --format=json", "option '--format' does not take 'json'",
                   "it takes text|binary|extbinary");
    assert_refused("llvm-profgen --perfdata", "option '--perfdata' needs a value", "it takes FILE");
    assert_refused("llvm-profgen --perfdata=", "option '--perfdata=' needs a value",
                   "it takes FILE");
}

/* What the tool would do, and br2pgo does not. */
static void test_unsupported(void **state)
{
    (void)state;
    static const char hint[] = "leave it out, or use the tool itself";
    assert_refused("llvm-profgen --csprof-max-cold-context-depth 1",
                   "'--csprof-max-cold-context-depth' is not supported: context-sensitive profiles "
                   "are not written",
                   hint);
    assert_refused("llvm-profgen --ignore-stack-samples=false",
                   "'--ignore-stack-samples=false' is not supported: context-sensitive profiles "
                   "are not written",
                   hint);
    assert_refused("llvm-profgen --format=gcc",
                   "'gcc' is not supported: llvm-profgen cannot write it either; -f gcov is "
                   "br2pgo's own",
                   hint);
    assert_refused("llvm-profgen @file",
                   "'@file' is not supported: options are not read from files", hint);
    assert_refused("perf2bolt -nl",
                   "'-nl' is not supported: without branch records there is no telling which way "
                   "the code went",
                   hint);
    assert_refused("perf2bolt -p p app -w x.yaml",
                   "'-w' is not supported: only llvm-bolt writes YAML: -data=FDATA -w=FILE", hint);
    assert_refused("perf2bolt -profile-format=yaml",
                   "'yaml' is not supported: only llvm-bolt writes YAML: -data=FDATA -w=FILE",
                   hint);
    assert_refused("create_llvm_prof --format=propeller",
                   "'propeller' is not supported: Propeller's layouts are not written", hint);
    assert_refused("create_llvm_prof --propeller_split_only",
                   "'--propeller_split_only' is not supported: Propeller's layouts are not written",
                   hint);
    assert_refused("create_gcov --use_lbr=false",
                   "'--use_lbr=false' is not supported: samples without branch records are not "
                   "used",
                   hint);
    assert_refused("create_gcov --nouse_lbr",
                   "'--nouse_lbr' is not supported: samples without branch records are not used",
                   hint);
    assert_refused("create_gcov --profiler=perf_spe",
                   "'--profiler=perf_spe' is not supported: read are branch records, and counted "
                   "ranges and branches",
                   hint);
    assert_refused("create_gcov --sample_threshold_frac=0.1",
                   "'--sample_threshold_frac=0.1' is not supported: rarely run functions stay in "
                   "the profile",
                   hint);
}

/* What an option becomes is an option that br2pgo has, and takes a value when it does. */
static void test_tables(void **state)
{
    (void)state;
    const struct br2_peer *peer;
    for (size_t i = 0; (peer = br2_peer_at(i)) != NULL; i++) {
        const struct br2_peer_option *option;
        size_t count = 0;
        for (; (option = br2_peer_option_at(peer, count)) != NULL; count++) {
            assert_non_null(option->text);
            if (option->effect != BR2_PEER_OWN) {
                continue;
            }
            assert_int_equal(strncmp(option->to, "--", 2), 0);
            const struct br2_option_line *line = br2_option_named(option->to + 2);
            assert_non_null(line);
            assert_int_equal(line->value != NULL, option->value != NULL);
        }
        assert_in_range(count, 10, 128);
    }
}

/* What completion offers for --compat are the tools, in any order. */
static void test_words(void **state)
{
    (void)state;
    const char *words = br2_option_words(br2_option_find(OPTION_COMPAT));
    size_t length = 0;
    const struct br2_peer *peer;
    for (size_t i = 0; (peer = br2_peer_at(i)) != NULL; i++) {
        assert_non_null(strstr(words, peer->name));
        length += strlen(peer->name) + 1;
    }
    assert_int_equal(strlen(words) + 1, length);
}

static void test_help(void **state)
{
    (void)state;
    static char text[16384];
    const struct br2_peer *peer;
    for (size_t i = 0; (peer = br2_peer_at(i)) != NULL; i++) {
        fflush(stdout);
        FILE *file = tmpfile();
        assert_non_null(file);
        int old = dup(STDOUT_FILENO);
        dup2(fileno(file), STDOUT_FILENO);
        br2_compat_print_help(peer);
        fflush(stdout);
        dup2(old, STDOUT_FILENO);
        close(old);
        rewind(file);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        const struct br2_peer_option *option;
        for (size_t k = 0; (option = br2_peer_option_at(peer, k)) != NULL; k++) {
            char wanted[64];
            snprintf(wanted, sizeof wanted, "\n  %s%s", option->name[1] != '\0' ? "--" : "-",
                     option->name);
            assert_non_null(strstr(text, wanted));
        }
        assert_non_null(strstr(text, peer->differs));
        for (const char *at = text; *at != '\0'; at = strchr(at, '\n') + 1) {
            assert_in_range(strcspn(at, "\n"), 0, 100);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),     cmocka_unit_test(test_llvm_profgen),
        cmocka_unit_test(test_perf2bolt), cmocka_unit_test(test_autofdo),
        cmocka_unit_test(test_invalid),   cmocka_unit_test(test_unsupported),
        cmocka_unit_test(test_tables),    cmocka_unit_test(test_words),
        cmocka_unit_test(test_help),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
