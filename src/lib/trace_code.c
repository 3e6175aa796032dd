/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lib/trace_code.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "lib/match.h"

#define OTHER_BUILD "is another build: it has another build-id"

static int read_build_id(const char *path, struct br2_build_id *ret, struct br2pgo_error *err)
{
    struct br2_image *image = NULL;
    *ret = (struct br2_build_id){0};
    int rc = br2_image_open(path, &image, err);
    if (rc == 0) {
        *ret = *br2_image_build_id(image);
        br2_image_close(image);
    }
    return rc;
}

int br2_trace_files_begin(struct br2_trace_files *files, const struct br2pgo_conversion *conversion,
                          const struct br2_recording *recording, struct br2pgo_error *err)
{
    *files = (struct br2_trace_files){.conversion = conversion, .recording = recording};
    pthread_mutex_init(&files->lock, NULL);
    files->count = br2_spaces_dsos(recording->spaces)->count;
    files->files = br2_calloc(files->count + 1, sizeof *files->files);
    if (files->files == NULL) {
        return br2_fail_memory(err);
    }
    return conversion->image_path != NULL
               ? read_build_id(conversion->image_path, &files->given, err)
               : 0;
}

void br2_trace_files_done(struct br2_trace_files *files)
{
    for (size_t i = 0; files->files != NULL && i < files->count; i++) {
        br2_file_close(&files->files[i].file);
        br2_free(files->files[i].path);
    }
    br2_free(files->files);
    pthread_mutex_destroy(&files->lock);
}

/* Whether the image that was given is the recorded one: by build-id, else by name. */
static bool is_given(const struct br2_trace_files *files, const struct br2_dso *dso)
{
    const char *path = files->conversion->image_path;
    if (path == NULL) {
        return false;
    }
    bool same_name = strcmp(br2_base_name(path), br2_base_name(dso->path)) == 0;
    if (files->given.size != 0 && dso->build_id.size != 0) {
        return br2_build_id_equal(&files->given, &dso->build_id) ||
               (same_name && files->conversion->options.ignore_build_id);
    }
    return same_name;
}

const char *br2_trace_files_unused(const struct br2_trace_files *files)
{
    const struct br2_dsos *dsos = br2_spaces_dsos(files->recording->spaces);
    for (size_t i = 0; i < files->count; i++) {
        if (is_given(files, &dsos->items[i])) {
            return NULL;
        }
    }
    return files->conversion->image_path;
}

/* Opens the file of an image where it is to be found here, if it is the one that ran. */
static void open_file(const struct br2_trace_files *files, const struct br2_dso *dso,
                      struct br2_trace_file *file)
{
    size_t length;
    const char *root = br2_image_root(files->conversion, &length);
    bool given = is_given(files, dso);
    file->tried = true;
    file->path = given ? br2_strdup(files->conversion->image_path)
                       : br2_format("%.*s%s", (int)length, root, dso->path);
    struct br2_build_id id;
    if (file->path == NULL) {
        file->reason = "finds no memory";
    } else if (!br2_file_is_regular(file->path)) {
        file->reason = "is not there";
    } else if (read_build_id(file->path, &id, NULL) != 0) {
        file->reason = "is no program";
    } else if (id.size != 0 && dso->build_id.size != 0 &&
               !br2_build_id_equal(&id, &dso->build_id) &&
               !files->conversion->options.ignore_build_id) {
        file->reason = OTHER_BUILD;
    } else if (br2_file_open(&file->file, file->path, NULL, NULL) != 0) {
        file->reason = "cannot be read";
    }
}

static struct br2_trace_file *find_file(struct br2_trace_files *files, uint32_t number)
{
    const struct br2_dso *dso = &br2_spaces_dsos(files->recording->spaces)->items[number];
    struct br2_trace_file *file = &files->files[number];
    if (!dso->file || dso->kernel) {
        return NULL;
    }
    pthread_mutex_lock(&files->lock);
    if (!file->tried) {
        open_file(files, dso, file);
    }
    pthread_mutex_unlock(&files->lock);
    return file;
}

bool br2_trace_files_find(void *user, uint32_t view, uint64_t address,
                          struct br2_trace_section *ret)
{
    struct br2_trace_files *files = user;
    const struct br2_mapping *mapping = br2_spaces_resolve(files->recording->spaces, view, address);
    struct br2_trace_file *file =
        mapping != NULL && mapping->dso < files->count ? find_file(files, mapping->dso) : NULL;
    if (file == NULL || file->file.bytes == NULL || mapping->file_offset >= file->file.size) {
        return false;
    }
    uint64_t size = mapping->end - mapping->start;
    uint64_t left = file->file.size - mapping->file_offset;
    *ret = (struct br2_trace_section){
        .start = mapping->start,
        .end = mapping->start + (size < left ? size : left),
        .bytes = file->file.bytes + mapping->file_offset,
        .path = file->path,
        .file_offset = mapping->file_offset,
    };
    return address < ret->end;
}

void br2_trace_files_explain(const struct br2_trace_files *files, uint32_t view, uint64_t address,
                             char *text, size_t size)
{
    const struct br2_mapping *mapping = br2_spaces_resolve(files->recording->spaces, view, address);
    const struct br2_dsos *dsos = br2_spaces_dsos(files->recording->spaces);
    if (mapping == NULL || mapping->dso >= files->count) {
        snprintf(text, size, "nothing that the recording knows is at 0x%" PRIx64, address);
        return;
    }
    const struct br2_trace_file *file = &files->files[mapping->dso];
    snprintf(text, size, "'%s' %s",
             file->path != NULL ? file->path : dsos->items[mapping->dso].path,
             file->reason != NULL ? file->reason : "has no code there");
}
