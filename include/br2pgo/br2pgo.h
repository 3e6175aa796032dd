/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * libbr2pgo: from sampled branch records to compiler profiles.
 *
 *     struct br2pgo_conversion *c;
 *     struct br2pgo_options options = BR2PGO_OPTIONS_INIT;
 *     if (br2pgo_open(&options, &c, &err) == 0 &&
 *         br2pgo_add_recording(c, "perf.data", &err) == 0 &&
 *         br2pgo_add_output(c, "app.prof", NULL, &err) == 0 &&
 *         br2pgo_run(c, &err) == 0)
 *         br2pgo_write(c, &err);
 *     br2pgo_close(c);
 *
 * Every function returns an enum br2pgo_status, 0 on success, and fills `err` (may be NULL) on
 * failure. The library prints nothing and never ends the process. Strings are copied in; what it
 * hands out is valid until br2pgo_close. One conversion belongs to one thread at a time; different
 * ones are independent. Recordings and images are mapped into memory: where somebody else cuts such
 * a file short while it is read, the system ends the process with SIGBUS. While the major version
 * is 0 the interface may change.
 */
#ifndef BR2PGO_BR2PGO_H
#define BR2PGO_BR2PGO_H

#include <stddef.h>
#include <stdint.h>

#include <br2pgo/error.h>
#include <br2pgo/version.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define BR2PGO_API __attribute__((visibility("default")))
#else
#define BR2PGO_API
#endif

struct br2pgo_conversion;

/* Which suffix of a symbol's name the compiler ignores when it looks up a profile: LLVM's function
 * attribute sample-profile-suffix-elision-policy. */
enum br2pgo_suffixes {
    BR2PGO_SUFFIXES_AUTO = 0, /* selected where the image has unique internal names, else all */
    BR2PGO_SUFFIXES_ALL,      /* cut at the first '.' */
    BR2PGO_SUFFIXES_SELECTED, /* cut .llvm.N and .part.N */
    BR2PGO_SUFFIXES_NONE,
};

/* Called in br2pgo_run and br2pgo_write at the beginning of each phase and, while a recording is
 * read ("scanning", then "reading"), every few thousand of its records, with done <= total. A
 * non-zero return ends the call it is made in with BR2PGO_CANCELLED. */
typedef int (*br2pgo_progress)(void *user, const char *phase, uint64_t done, uint64_t total);

struct br2pgo_options {
    size_t size;              /* sizeof(struct br2pgo_options) of the caller */
    const char *event;        /* name of the event to use; NULL: all that have branch stacks */
    const char *sysroot;      /* folder that holds the recorded machine's files; NULL: "/" */
    const char *debug_binary; /* file with the image's debug information; NULL: found */
    int ignore_build_id;      /* take an image although its build-id differs */
    int suffixes;             /* enum br2pgo_suffixes */
    int symbol_list;          /* collect the names of all functions for the outputs */
    int flow_inference; /* LLVM profiles for clang with -mllvm -sample-profile-use-profi: counts
                           that fit together rather than each the best of its place */
    int gcc_version;  /* major version of the GCC that gcov outputs are for; 0: what built the image
                       */
    int gcov_version; /* of the format GCC reads, 1 to 3; 0: follows from the compiler's; without
                         gcc_version the compiler follows from it: the image's if it reads that
                         version, else the nearest to it that does */
    int bolt_version; /* major version of the BOLT that bolt-preagg outputs are for, 14 or more; 0:
                         what every one reads */
    int all_images;   /* outputs for every image with enough records: see br2pgo_image_result */
    /* Which samples are used; NULL: all. Lists are separated by commas, at most 32 in each. */
    const char *pids;   /* processes: numbers and ranges, "12,100-199" */
    const char *comms;  /* processes that have one of these names when the sample is taken */
    const char *cpus;   /* processors, like pids */
    const char *time;   /* "FROM,TO" in seconds of the recording's clock, either may be left out; or
                           parts of the time from the first to the last sample: "10%-20%", or "10%/2"
                           for the second tenth */
    int ignore_kernel;  /* leave out branch records with a side in the kernel */
    uint64_t min_count; /* leave out branches that all recordings together have fewer records of */
    int skip_bad; /* of several recordings, leave out those that cannot be used, with a warning */
    int threads;  /* that count branch records; 0: one for each processor, for large recordings. The
                     outputs do not depend on it */
    br2pgo_progress progress; /* may be NULL */
    void *progress_user;
};
#define BR2PGO_THREADS_MAX 256
#define BR2PGO_OPTIONS_INIT                                                                        \
    {                                                                                              \
        sizeof(struct br2pgo_options), NULL, NULL, NULL, 0, BR2PGO_SUFFIXES_AUTO, 0, 0, 0, 0, 0,   \
            0, NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL, NULL                                      \
    }

/* `options` may be NULL. Sets `*ret` to NULL on failure. BR2PGO_INVALID: a size or value this
 * library does not know. */
BR2PGO_API int br2pgo_open(const struct br2pgo_options *options, struct br2pgo_conversion **ret,
                           struct br2pgo_error *err);
BR2PGO_API void br2pgo_close(struct br2pgo_conversion *conversion);

/* A recording to read, at least one; the file is opened by br2pgo_run. It may be a file, also one
 * packed by gzip, xz or zstd, a pipe, "-" for standard input, or the directory that perf record
 * --threads makes. What is packed or comes from a pipe is read twice: beyond 4 MiB it is kept
 * meanwhile in a file without a name, beside the first output or in $TMPDIR, /var/tmp or /tmp.
 * BR2PGO_INVALID: standard input for the second time; here and in the next three: the conversion
 * has run. */
BR2PGO_API int br2pgo_add_recording(struct br2pgo_conversion *conversion, const char *path,
                                    struct br2pgo_error *err);

/*
 * The weight of the recordings that are added from now on, at first "1": a number above 0 and up to
 * 1000000, with up to 6 decimals. Weights are ratios: every count of a recording is multiplied by a
 * whole number, the smallest that have these ratios, so that nothing is rounded. BR2PGO_INVALID.
 */
BR2PGO_API int br2pgo_set_weight(struct br2pgo_conversion *conversion, const char *weight,
                                 struct br2pgo_error *err);

/* The program or library to make profiles for; without it, the executable with clearly most of the
 * records is taken from where the recording says it lies. */
BR2PGO_API int br2pgo_set_image(struct br2pgo_conversion *conversion, const char *path,
                                struct br2pgo_error *err);

struct br2pgo_output_options {
    size_t size;        /* sizeof(struct br2pgo_output_options) of the caller */
    const char *format; /* name of a format; NULL: by the path's suffix */
    int compress;       /* compress the sections (llvm-extbinary) */
    int md5;            /* names as MD5 hashes (llvm-extbinary) */
    int partial;        /* mark as covering part of the program (llvm-extbinary) */
};
#define BR2PGO_OUTPUT_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(struct br2pgo_output_options), NULL, 0, 0, 0                                        \
    }

/* A file to write; "-" is standard output. BR2PGO_INVALID: no such format, none follows from the
 * suffix, or an option the format has no place for. */
BR2PGO_API int br2pgo_add_output(struct br2pgo_conversion *conversion, const char *path,
                                 const struct br2pgo_output_options *options,
                                 struct br2pgo_error *err);

/* The format of output `index`, in the order they were added; NULL behind the last. Before
 * br2pgo_run that of a ".afdo" file, which the compiler of the image decides, is llvm-extbinary. */
BR2PGO_API const char *br2pgo_output_format(const struct br2pgo_conversion *conversion,
                                            size_t index);

/*
 * Reads the recordings, chooses the image, checks every record against its code and makes what the
 * outputs need; once. Notable: BR2PGO_USELESS (nothing to make a profile of, with the reason),
 * BR2PGO_AMBIGUOUS (several images: use br2pgo_set_image), BR2PGO_CANCELLED, BR2PGO_INVALID (an
 * output would replace another one, or a file that is read; an option that no output has use for).
 */
BR2PGO_API int br2pgo_run(struct br2pgo_conversion *conversion, struct br2pgo_error *err);

/* Writes all outputs, or none: each goes to a temporary file beside its place, is read back and
 * compared, and only when all are complete are they moved into place. When one cannot be moved,
 * those before it are put back as they were; on a file system without hard links, or where it is
 * somebody else's in a shared folder, an old file cannot be. BR2PGO_INVALID: it has not run, or its
 * run failed. BR2PGO_CANCELLED. */
BR2PGO_API int br2pgo_write(struct br2pgo_conversion *conversion, struct br2pgo_error *err);

/* For what the caller writes himself, such as the report: BR2PGO_INVALID where `path` is an output,
 * or a file that is read, as far as these are known: all of them after br2pgo_run. */
BR2PGO_API int br2pgo_check_path(const struct br2pgo_conversion *conversion, const char *path,
                                 struct br2pgo_error *err);

enum br2pgo_note_kind {
    BR2PGO_NOTE_DETAIL = 0,  /* of interest to who looks closely */
    BR2PGO_NOTE_CHOICE = 1,  /* something was chosen for the user */
    BR2PGO_NOTE_WARNING = 2, /* the result may be less than hoped for */
};

/* What a run found worth saying, in order: one line each, e.g. which image was chosen, that a
 * recording was cut short. NULL behind the last. `*ret_kind` is an enum br2pgo_note_kind. */
BR2PGO_API const char *br2pgo_note(const struct br2pgo_conversion *conversion, size_t index,
                                   int *ret_kind);

/* Path of the image in use; NULL before it was chosen. */
BR2PGO_API const char *br2pgo_image_path(const struct br2pgo_conversion *conversion);

/*
 * With all_images, outputs are made for the program and every library with at least 1000 branch
 * records, each looked for where the recording says it lies. An output's path is a pattern: %n
 * stands for the image's name (two of one name get numbers), %x for the format's suffix, %% for a
 * percent sign. An image that cannot be made a profile of is no failure of the run as long as there
 * is one that can.
 */
struct br2pgo_image_result {
    const char *path;   /* as recorded */
    uint64_t records;   /* branch records that start in it */
    double share;       /* of all that were counted, 0 to 1 */
    const char *output; /* path of its first output; NULL: there is none */
    const char *reason; /* why there is none; NULL where there is */
};
/* The images, busiest first, from 0 on; BR2PGO_INVALID behind the last. */
BR2PGO_API int br2pgo_image_result(const struct br2pgo_conversion *conversion, size_t index,
                                   struct br2pgo_image_result *ret);

/* The funnel: what came in, and where and why some of it was lost. */
struct br2pgo_funnel_row {
    const char *stage;  /* "samples", "branch records", "straight runs", "instructions" */
    const char *reason; /* "in" opens a stage, "kept" ends it, anything else is a loss */
    uint64_t count;
    double share; /* of the stage's "in" row, 0 to 1 */
};
/* Rows known so far, also after a failed run. */
BR2PGO_API size_t br2pgo_funnel(const struct br2pgo_conversion *conversion,
                                const struct br2pgo_funnel_row **ret);

/* The funnel, the inputs, the image and the outputs as one JSON object (docs/formats.md); free with
 * br2pgo_free. `*ret` is NULL on failure, here and in br2pgo_inspect. */
BR2PGO_API int br2pgo_report_json(const struct br2pgo_conversion *conversion, char **ret,
                                  struct br2pgo_error *err);

/* A report is what a person looks at: branches with their probabilities, calls, code and more, as
 * tables. It is made beside the outputs, or instead of them. */
enum br2pgo_report_form {
    BR2PGO_REPORT_TEXT = 0,
    BR2PGO_REPORT_COLOR = 1, /* text with the sequences that colour terminals know */
    BR2PGO_REPORT_CSV = 2,
    BR2PGO_REPORT_JSON = 3, /* docs/formats.md */
    BR2PGO_REPORT_HTML = 4, /* a page that needs no other file and no network */
};
struct br2pgo_report_options {
    size_t size;          /* sizeof(struct br2pgo_report_options) of the caller */
    const char *sections; /* names, separated by commas; NULL: all */
    const char *function; /* only of functions of this name, mangled or not; NULL: of all */
    uint64_t top;         /* rows of each table at most; 0: all */
    int raw_names;        /* names as in the symbol table, not demangled */
};
#define BR2PGO_REPORT_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(struct br2pgo_report_options), NULL, NULL, 0, 0                                     \
    }
/* Before br2pgo_run: there is to be a report; `options` may be NULL. BR2PGO_INVALID: an unknown
 * section; the conversion has run, or is of all images. */
BR2PGO_API int br2pgo_want_report(struct br2pgo_conversion *conversion,
                                  const struct br2pgo_report_options *options,
                                  struct br2pgo_error *err);
/* After br2pgo_run: the report in one form; free with br2pgo_free. `*ret` is NULL on failure.
 * BR2PGO_INVALID: it was not wanted, the run failed, or no function that ran has the name. */
BR2PGO_API int br2pgo_make_report(struct br2pgo_conversion *conversion, int form, char **ret,
                                  struct br2pgo_error *err);

/* What is in a recording: text for people, or one JSON object; free with br2pgo_free. Needs no
 * image. */
BR2PGO_API int br2pgo_inspect(const char *recording, int json, char **ret,
                              struct br2pgo_error *err);

/* Members of struct br2pgo_output_options, and the symbol list, that a format has a place for. */
#define BR2PGO_CAN_COMPRESS     1u
#define BR2PGO_CAN_MD5          2u
#define BR2PGO_CAN_SYMBOL_LIST  4u
#define BR2PGO_CAN_PARTIAL      8u
#define BR2PGO_CAN_GCC_VERSION  16u /* gcc_version of struct br2pgo_options says something to it */
#define BR2PGO_CAN_BOLT_VERSION 32u /* bolt_version does */

struct br2pgo_format {
    const char *name;
    const char *description;
    const char *suffix; /* the usual one; NULL: only by name */
    int binary;         /* not for a terminal */
    unsigned can;       /* BR2PGO_CAN_* */
};
/* The formats of outputs, by number from 0 on; BR2PGO_INVALID behind the last. */
BR2PGO_API int br2pgo_format_info(size_t index, struct br2pgo_format *ret);
/* The format of an output: by name, or, where that is NULL, by the path's suffix. BR2PGO_INVALID
 * with the list of formats as hint. */
BR2PGO_API int br2pgo_format_of(const char *path, const char *name, struct br2pgo_format *ret,
                                struct br2pgo_error *err);

/*
 * A finished profile of any format, told by its content, as text: source profiles as llvm-text
 * (those for GCC behind a comment that says so), what is for other tools as it is, sorted.
 * `format`: another text format for it; NULL: the usual one. Free with br2pgo_free; `*ret` is NULL
 * on failure. BR2PGO_UNSUPPORTED: of no known format; BR2PGO_USELESS: there is nothing in it.
 */
BR2PGO_API int br2pgo_show(const char *path, const char *format, char **ret,
                           struct br2pgo_error *err);

struct br2pgo_show_options {
    size_t size;          /* sizeof(struct br2pgo_show_options) of the caller */
    const char *format;   /* as of br2pgo_show; not together with what follows */
    const char *function; /* only this one; NULL: all */
    size_t top;           /* so many functions, those with the most counts; 0: all */
    int json;             /* one JSON object in place of text */
    const char *annotate; /* show source lines with their counts, as the debug information of this
                             program or library tells them */
    const char *sysroot;  /* folder that holds the sources and debug files; NULL: "/" */
};
#define BR2PGO_SHOW_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(struct br2pgo_show_options), NULL, NULL, 0, 0, NULL, NULL                           \
    }
/* The same, or a part of it; `options` may be NULL. BR2PGO_USELESS: there is no such function, no
 * source line. */
BR2PGO_API int br2pgo_show_with(const char *path, const struct br2pgo_show_options *options,
                                char **ret, struct br2pgo_error *err);

struct br2pgo_merge_options {
    size_t size;        /* sizeof(struct br2pgo_merge_options) of the caller */
    const char *format; /* of the output; NULL: by its suffix */
    int gcc_version;  /* major version of the GCC that a gcov output is made to fit; 0: the inputs'
                         version of the format, and nothing changed but the counts */
    int gcov_version; /* of the format that GCC reads, 1 to 3; 0: follows from gcc_version. Alone it
                         is for the newest GCC that reads it */
    int compress;     /* as in struct br2pgo_output_options */
    int md5;
    int partial;
    void (*note)(void *user, int kind,
                 const char *text); /* as br2pgo_note hands out; may be NULL */
    void *note_user;
    /* The weight of each input, NULL: 1; or NULL: all are 1. Counts are multiplied by it; where one
     * is not whole, by the smallest whole numbers that have these ratios. */
    const char *const *weights;
    double trim; /* leave out functions with less than this share, 0 to 1, of all samples */
};
#define BR2PGO_MERGE_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(struct br2pgo_merge_options), NULL, 0, 0, 0, 0, 0, NULL, NULL, NULL, 0              \
    }

/*
 * Adds finished profiles up, one after the other, and writes the sum, all or nothing; `options` may
 * be NULL. The result
 * does not depend on the order of the inputs; the output may be one of them. One input is
 * converted: to another format of its kind, or for another GCC. BR2PGO_INVALID: they cannot be
 * added up, or not in the output's format; BR2PGO_AMBIGUOUS: gcc_version is needed; BR2PGO_USELESS:
 * one is empty.
 */
BR2PGO_API int br2pgo_merge(const char *const *inputs, size_t count, const char *output,
                            const struct br2pgo_merge_options *options, struct br2pgo_error *err);

/* A finished profile by its path, or the first output of a conversion that br2pgo_run has run: one
 * of the two, the other NULL. */
struct br2pgo_source {
    const char *profile;
    const struct br2pgo_conversion *conversion;
};

struct br2pgo_diff_options {
    size_t size;          /* sizeof(struct br2pgo_diff_options) of the caller */
    const char *function; /* only this function, with its places; NULL: all functions */
    size_t top;           /* so many functions, or places, at most; 0: all */
    int json;             /* one JSON object in place of text */
};
#define BR2PGO_DIFF_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(struct br2pgo_diff_options), NULL, 10, 0                                            \
    }

/*
 * How alike two profiles of one kind are, as `llvm-profdata overlap --sample` says it, and which
 * functions' shares of all samples changed; free with br2pgo_free, `*ret` is NULL on failure.
 * `options` may be NULL. BR2PGO_INVALID: they count different things; BR2PGO_USELESS: one is empty,
 * or neither has the function.
 */
BR2PGO_API int br2pgo_diff(const struct br2pgo_source *base, const struct br2pgo_source *test,
                           const struct br2pgo_diff_options *options, char **ret,
                           struct br2pgo_error *err);

/* What br2pgo_check measures. */
enum br2pgo_check_figure {
    BR2PGO_CHECK_DENSITY,      /* as llvm-profgen 19 defines it */
    BR2PGO_CHECK_BOLT_DENSITY, /* as llvm-bolt 20 does; of recordings, like all but the next two */
    BR2PGO_CHECK_COVERAGE,     /* of a baseline */
    BR2PGO_CHECK_SIMILARITY,   /* to it, as br2pgo_diff says */
    BR2PGO_CHECK_LOST,         /* contradicts the image's code */
    BR2PGO_CHECK_UNATTRIBUTED, /* instructions executed in functions without debug information */
    BR2PGO_CHECK_IMBALANCE,    /* of what enters functions and leaves them */
    BR2PGO_CHECK_NEWEST_BIAS,  /* samples that were not taken at random */
    BR2PGO_CHECK_BEAT,         /* of those, at the wrong one of branches that run as often */
    BR2PGO_CHECK_REPEATED,     /* newest records logged twice */
    BR2PGO_CHECK_STALE, /* instructions executed in functions that another image has changed */
    BR2PGO_CHECK_STALE_LINES,    /* at other lines in it, of functions with the same code */
    BR2PGO_CHECK_STALE_OPERANDS, /* in functions of which it has only other operands */
    BR2PGO_CHECK_FIGURES,
};
/* The name of figure `index`; NULL behind the last. Whether a limit is the least that is good. */
BR2PGO_API const char *br2pgo_check_figure_name(size_t index, int *ret_at_least);

struct br2pgo_check_options {
    size_t size;                         /* sizeof(struct br2pgo_check_options) of the caller */
    const char *baseline;                /* finished profile; NULL: none */
    const char *against;                 /* another build of the image; NULL: none */
    int json;                            /* one JSON object in place of text */
    double limits[BR2PGO_CHECK_FIGURES]; /* shares are 0 to 1; below 0: the usual one, or none */
};
#define BR2PGO_CHECK_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(struct br2pgo_check_options), NULL, NULL, 0,                                        \
        {                                                                                          \
            -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1                                     \
        }                                                                                          \
    }

/*
 * Whether a recording that a conversion has run on, or a finished profile, is good enough: a
 * verdict and the figures, free with br2pgo_free; `*ret_missed` is how many limits were missed.
 * `options` may be NULL. BR2PGO_INVALID: a limit of what the source does not tell.
 */
BR2PGO_API int br2pgo_check(const struct br2pgo_source *source,
                            const struct br2pgo_check_options *options, char **ret, int *ret_missed,
                            struct br2pgo_error *err);

/* The format of a finished profile, told by its content; BR2PGO_UNSUPPORTED where the file is none,
 * also of formats that are read as recordings; BR2PGO_IO. */
BR2PGO_API int br2pgo_profile_format(const char *path, struct br2pgo_format *ret,
                                     struct br2pgo_error *err);

/*
 * The most memory, in bytes, that the library may take in this process, of all its conversions and
 * threads together, with what the libraries below it take; 0: no limit, as at the beginning. What
 * needs more fails with BR2PGO_NO_MEMORY, and with nothing written. Files that are mapped do not
 * count: the system can take their memory back. Set it before anything else is called.
 */
BR2PGO_API void br2pgo_set_max_memory(size_t bytes);

/*
 * The functions of an image, by address: what edge tables call them. BR2PGO_IO; BR2PGO_UNSUPPORTED:
 * no program of a machine that is known; BR2PGO_CORRUPT. `*ret` is NULL on failure.
 */
struct br2pgo_functions;
BR2PGO_API int br2pgo_functions_open(const char *image, struct br2pgo_functions **ret,
                                     struct br2pgo_error *err);
BR2PGO_API void br2pgo_functions_close(struct br2pgo_functions *functions);
/* The name of the function that contains the link-time address, as in the symbol table, valid until
 * they are closed; "" where there is none. */
BR2PGO_API const char *br2pgo_functions_name(const struct br2pgo_functions *functions,
                                             uint64_t address);

BR2PGO_API void br2pgo_free(void *block);
BR2PGO_API const char *br2pgo_version(void);

#ifdef __cplusplus
}
#endif

#endif
