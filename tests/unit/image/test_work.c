/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files with much of everything: work grows with their size, not with its square. Each test would
 * take minutes if it did; a limit on processor time, many times what is needed, ends it then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "elf_builder.h"
#include "image/debug.h"
#include "image/image_private.h"

#define SECONDS 15

/* Runs `work` on a file, in a process of its own, within SECONDS of processor time. */
static void check_limited(const char *path, int (*work)(const char *path))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit limit = {SECONDS, SECONDS + 1};
        setrlimit(RLIMIT_CPU, &limit);
        _exit(work(path));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    unlink(path);
    assert_int_equal(status, 0);
}

static int ask_for_symbols(const char *path)
{
    struct br2_image *image;
    int wrong = br2_image_open(path, &image, NULL) != 0;
    for (unsigned i = 0; i < 20000 && !wrong; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%u", 10 * i);
        wrong += !br2_image_has_symbol(image, name);
        snprintf(name, sizeof name, "x%u", i);
        wrong += br2_image_has_symbol(image, name);
    }
    br2_image_close(image);
    return wrong != 0;
}

static void test_symbols(void **state)
{
    (void)state;
    static const uint8_t code[16] = {0x90};
    struct eb eb = eb_new(ET_DYN, EM_X86_64);
    uint16_t text = (uint16_t)eb_text(&eb, ".text", 0x1000, code, sizeof code);
    for (unsigned i = 0; i < 200000; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%u", i);
        eb_symbol(&eb, name, STB_GLOBAL, STT_OBJECT, text, 0x1000, 1);
    }
    eb_symtab(&eb, ".symtab", SHT_SYMTAB);
    check_limited(eb_write(&eb), ask_for_symbols);
}

/* A CIE whose augmentation string has half a million letters. */
static void put_long_cie(struct br2_buf *buf)
{
    size_t start = buf->size;
    br2_buf_le32(buf, 0);
    br2_buf_le32(buf, 0);
    br2_buf_put(buf, "\1z", 2);
    for (unsigned i = 0; i < 500000; i++) {
        br2_buf_u8(buf, 'S');
    }
    br2_buf_put(buf, "R\0\1\x78\20\1\x1b", 7);
    uint32_t length = (uint32_t)(buf->size - start - 4);
    memcpy(buf->bytes + start, &length, sizeof length);
}

static int open_it(const char *path)
{
    struct br2_image *image;
    int status = br2_image_open(path, &image, NULL);
    br2_image_close(image);
    return status != 0;
}

static void test_frames(void **state)
{
    (void)state;
    static const uint8_t code[16] = {0x90};
    struct eb eb = eb_new(ET_DYN, EM_X86_64);
    struct br2_buf frames = {0};
    put_long_cie(&frames);
    size_t second = frames.size;
    put_long_cie(&frames);
    for (unsigned i = 0; i < 100000; i++) {
        br2_buf_le32(&frames, 16);
        br2_buf_le32(&frames, (uint32_t)(frames.size - (i % 2 != 0 ? second : 0)));
        br2_buf_le32(&frames, (uint32_t)(0x1000 - (0x100000 + frames.size)));
        br2_buf_le32(&frames, 8);
        br2_buf_le32(&frames, 0);
    }
    eb_text(&eb, ".text", 0x1000, code, sizeof code);
    eb_add(&eb, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, 0x100000, frames.bytes, frames.size);
    br2_buf_done(&frames);
    check_limited(eb_write(&eb), open_it);
}

#define SECTIONS  250000 /* of code, and segments */
#define UNITS     20000
#define FUNCTIONS 3 /* of each unit */

static void put_units(struct br2_buf *info)
{
    for (unsigned i = 0; i < UNITS; i++) {
        size_t start = info->size;
        br2_buf_le32(info, 0);
        br2_buf_put(info, "\4\0\0\0\0\0\10\1", 8);
        br2_buf_le64(info, 0x1000);
        br2_buf_le32(info, 4);
        for (unsigned k = 0; k < FUNCTIONS; k++) {
            br2_buf_put(info, "\2f", 3);
            br2_buf_le64(info, 0x1000);
            br2_buf_le32(info, 4);
        }
        br2_buf_u8(info, 0);
        uint32_t length = (uint32_t)(info->size - start - 4);
        memcpy(info->bytes + start, &length, sizeof length);
    }
}

static void put_section(struct br2_buf *headers, Elf64_Shdr header)
{
    header.sh_addralign = 1;
    br2_buf_put(headers, &header, sizeof header);
}

/* Bytes of the file at its end, as a section that is not loaded. */
static void put_contents(struct br2_buf *file, struct br2_buf *headers, Elf64_Word name,
                         const void *bytes, size_t size)
{
    put_section(headers, (Elf64_Shdr){.sh_name = name,
                                      .sh_type = SHT_PROGBITS,
                                      .sh_offset = file->size,
                                      .sh_size = size});
    br2_buf_put(file, bytes, size);
}

/* More sections and segments than 16 bits count: their numbers stand in the first section's header
 * (System V ABI, "ELF Header"). */
static struct br2_buf make_many_sections(void)
{
    /* A unit {low, high pc} with functions {inline name, low, high pc}. */
    static const char abbreviations[] = "\1\x11\1\x11\1\x12\6\0\0\2\x2e\0\3\x8\x11\1\x12\6\0\0\0";
    struct br2_buf file = {0};
    struct br2_buf names = {0};
    struct br2_buf headers = {0};
    struct br2_buf info = {0};
    Elf64_Ehdr header = {
        .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_phoff = sizeof header,
        .e_ehsize = sizeof header,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = PN_XNUM,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shstrndx = 1,
    };
    br2_buf_put(&names, "\0.debug_abbrev\0.debug_info", 27);
    br2_buf_put(&file, &header, sizeof header);
    put_section(&headers, (Elf64_Shdr){.sh_size = SECTIONS + 4, .sh_info = SECTIONS});
    put_section(&headers, (Elf64_Shdr){.sh_type = SHT_STRTAB});
    for (unsigned i = 0; i < SECTIONS; i++) {
        Elf64_Addr address = 0x1000 + 8 * i;
        Elf64_Phdr segment = {.p_type = PT_LOAD,
                              .p_flags = PF_R | PF_X,
                              .p_vaddr = address,
                              .p_filesz = 4,
                              .p_memsz = 4};
        char name[16];
        br2_buf_put(&file, &segment, sizeof segment);
        put_section(&headers, (Elf64_Shdr){.sh_name = (Elf64_Word)names.size,
                                           .sh_type = SHT_PROGBITS,
                                           .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                                           .sh_addr = address,
                                           .sh_size = 4});
        snprintf(name, sizeof name, "section%u", i);
        br2_buf_put(&names, name, strlen(name) + 1);
    }
    put_units(&info);
    put_contents(&file, &headers, 1, abbreviations, sizeof abbreviations - 1);
    put_contents(&file, &headers, 15, info.bytes, info.size);
    Elf64_Shdr strings = {.sh_type = SHT_STRTAB, .sh_offset = file.size, .sh_size = names.size};
    memcpy(headers.bytes + sizeof strings, &strings, sizeof strings);
    br2_buf_put(&file, names.bytes, names.size);
    eb_align(&file);
    header.e_shoff = file.size;
    memcpy(file.bytes, &header, sizeof header);
    br2_buf_put(&file, headers.bytes, headers.size);
    br2_buf_done(&names);
    br2_buf_done(&headers);
    br2_buf_done(&info);
    return file;
}

static int count(void *user, const char *name)
{
    ++*(size_t *)user;
    return name[0] != 'f';
}

static int read_debug_info(const char *path)
{
    struct br2_image *image;
    struct br2_debug *debug = NULL;
    const struct br2_segment *segments;
    size_t names = 0;
    size_t size = 0;
    int wrong = br2_image_open(path, &image, NULL) != 0;
    for (uint64_t i = 0; i < SECTIONS && !wrong; i++) {
        struct br2_code_section section;
        wrong = !br2_image_section_at(image, 0x1000 + 8 * i + 3, &section) ||
                section.start != 0x1000 + 8 * i || section.end != section.start + 4;
    }
    if (!wrong) {
        wrong = br2_image_segments(image, &segments) != SECTIONS ||
                br2_image_code(image, 0x1000 + 8 * (SECTIONS - 1) + 1, &size) == NULL || size != 3;
    }
    if (!wrong) {
        wrong = br2_debug_open(image, path, NULL, &debug, NULL) != 0 ||
                br2_debug_each_name(debug, count, &names, NULL) != 0 || names != UNITS * FUNCTIONS;
    }
    br2_debug_close(debug);
    br2_image_close(image);
    return wrong;
}

static void test_sections(void **state)
{
    (void)state;
    struct br2_buf file = make_many_sections();
    char path[64];
    snprintf(path, sizeof path, "/tmp/br2-sections-%d", getpid());
    eb_save(path, file.bytes, file.size);
    br2_buf_done(&file);
    check_limited(path, read_debug_info);
}

/* Writes a file of one section with code and, behind it, `count` that are all the same bytes. */
static void write_overlapping(const char *path, Elf64_Shdr section, unsigned count,
                              const struct br2_buf *contents)
{
    struct br2_buf file = {0};
    struct br2_buf headers = {0};
    Elf64_Ehdr header = {
        .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_REL,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_ehsize = sizeof header,
        .e_shentsize = sizeof(Elf64_Shdr),
    };
    br2_buf_put(&file, &header, sizeof header);
    put_section(&headers, (Elf64_Shdr){.sh_size = count + 3});
    put_section(&headers, (Elf64_Shdr){.sh_type = SHT_PROGBITS,
                                       .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                                       .sh_offset = file.size,
                                       .sh_size = sizeof header});
    /* Its symbol 1 is an undefined one, as the contents begin with numbers that are small. */
    put_section(&headers, (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                                       .sh_offset = file.size,
                                       .sh_size = 2 * sizeof(Elf64_Sym),
                                       .sh_entsize = sizeof(Elf64_Sym)});
    section.sh_offset = file.size;
    section.sh_size = contents->size;
    for (unsigned i = 0; i < count; i++) {
        put_section(&headers, section);
    }
    br2_buf_put(&file, contents->bytes, contents->size);
    eb_align(&file);
    header.e_shoff = file.size;
    memcpy(file.bytes, &header, sizeof header);
    br2_buf_put(&file, headers.bytes, headers.size);
    eb_save(path, file.bytes, file.size);
    br2_buf_done(&file);
    br2_buf_done(&headers);
}

static void test_overlapping_notes(void **state)
{
    (void)state;
    struct br2_buf notes = {0};
    char path[64];
    snprintf(path, sizeof path, "/tmp/br2-notes-%d", getpid());
    for (unsigned i = 0; i < 300000; i++) {
        br2_buf_le32(&notes, 0);
        br2_buf_le32(&notes, 0);
        br2_buf_le32(&notes, 1);
    }
    write_overlapping(path, (Elf64_Shdr){.sh_type = SHT_NOTE}, 100000, &notes);
    br2_buf_done(&notes);
    check_limited(path, open_it);
}

/* Calls out of a module, each counted by 100 sections. */
static void test_overlapping_relocations(void **state)
{
    (void)state;
    struct br2_buf relocations = {0};
    struct br2_image *image;
    char path[64];
    snprintf(path, sizeof path, "/tmp/br2-relocations-%d", getpid());
    for (unsigned i = 0; i < 1000; i++) {
        Elf64_Rela rela = {.r_offset = 1, .r_info = ELF64_R_INFO(1, R_X86_64_PLT32)};
        br2_buf_put(&relocations, &rela, sizeof rela);
    }
    write_overlapping(path, (Elf64_Shdr){.sh_type = SHT_RELA, .sh_link = 2, .sh_info = 1}, 100,
                      &relocations);
    br2_buf_done(&relocations);
    assert_int_equal(br2_image_open(path, &image, NULL), 0);
    unlink(path);
    assert_in_range(image->elf.unresolved_count, 1000, 6000);
    br2_image_close(image);
}

/* Stubs that each have the rest of one long string as their name. */
static void test_stub_names(void **state)
{
    (void)state;
    static uint8_t plt[16 * 1000];
    static Elf64_Rela relas[1000];
    static char name[50000];
    struct eb eb = eb_new(ET_DYN, EM_X86_64);
    memset(name, 'n', sizeof name - 1);
    uint32_t first = eb_symbol(&eb, name, STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0);
    for (uint32_t i = 0; i < 1000; i++) {
        Elf64_Sym symbol = {.st_name = 1 + i, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)};
        br2_buf_put(&eb.symbols, &symbol, sizeof symbol);
        memcpy(plt + (size_t)16 * i, "\x68", 1); /* push the relocation's number */
        memcpy(plt + (size_t)16 * i + 1, &i, sizeof i);
        relas[i] = (Elf64_Rela){.r_info = ELF64_R_INFO(first + 1 + i, R_X86_64_JUMP_SLOT)};
    }
    eb_text(&eb, ".plt", 0x1000, plt, sizeof plt);
    uint32_t symbols = eb_symtab(&eb, ".dynsym", SHT_DYNSYM);
    eb_rela(&eb, ".rela.plt", symbols, 0, relas, 1000);
    struct br2_image *image;
    const struct br2_code_range *ranges;
    size_t named = 0;
    assert_int_equal(br2_image_open(eb_write(&eb), &image, NULL), 0);
    unlink(eb.path);
    size_t count_of_ranges = br2_image_ranges(image, &ranges);
    assert_int_equal(count_of_ranges, 1000);
    for (size_t i = 0; i < count_of_ranges; i++) {
        named += ranges[i].name[0] == 'n';
    }
    assert_in_range(named, 1, 20);
    br2_image_close(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_sections),
        cmocka_unit_test(test_overlapping_notes),
        cmocka_unit_test(test_overlapping_relocations),
        cmocka_unit_test(test_stub_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
