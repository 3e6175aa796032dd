/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* image.c and the ranges: what an ELF file's headers, symbols, PLT and call frames become. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "elf_builder.h"
#include "image/code.h"
#include "image/image.h"

static uint8_t nops[0x100];

static struct br2_image *open_built(struct eb *eb)
{
    struct br2_image *image;
    struct br2pgo_error err = {0};
    int status = br2_image_open(eb_write(eb), &image, &err);
    unlink(eb->path);
    if (status != 0) {
        fail_msg("%s", err.message);
    }
    return image;
}

static void check_range(const struct br2_image *image, size_t index, uint64_t start, uint64_t end,
                        const char *name)
{
    const struct br2_code_range *ranges;
    size_t count = br2_image_ranges(image, &ranges);
    assert_in_range(index, 0, count - 1);
    assert_string_equal(ranges[index].name, name);
    assert_int_equal(ranges[index].start, start);
    assert_int_equal(ranges[index].end, end);
}

static size_t range_count(const struct br2_image *image)
{
    const struct br2_code_range *ranges;
    return br2_image_ranges(image, &ranges);
}

static void test_symbols(void **state)
{
    (void)state;
    struct eb eb = eb_new(ET_DYN, EM_X86_64);
    uint16_t text = (uint16_t)eb_text(&eb, ".text", 0x1000, nops, 0x100);
    uint16_t data = (uint16_t)eb_add(&eb, ".data", SHT_PROGBITS, SHF_ALLOC, 0x9000, nops, 16);
    eb_symbol(&eb, "al", STB_LOCAL, STT_FUNC, text, 0x1000, 0x20);
    eb_symbol(&eb, "w", STB_WEAK, STT_FUNC, text, 0x1000, 0x10);
    eb_symbol(&eb, "zeta", STB_GLOBAL, STT_FUNC, text, 0x1000, 0x10);
    eb_symbol(&eb, "beta", STB_GLOBAL, STT_FUNC, text, 0x1000, 0x10);
    eb_symbol(&eb, "inside", STB_GLOBAL, STT_FUNC, text, 0x1008, 4);
    eb_symbol(&eb, "label", STB_GLOBAL, STT_FUNC, text, 0x1010, 0);
    eb_symbol(&eb, "cut", STB_GLOBAL, STT_FUNC, text, 0x1018, 0x18);
    eb_symbol(&eb, "open", STB_GLOBAL, STT_GNU_IFUNC, text, 0x1040, 0);
    eb_symbol(&eb, "long", STB_GLOBAL, STT_FUNC, text, 0x1080, 0x1000);
    eb_symbol(&eb, "$x", STB_LOCAL, STT_NOTYPE, text, 0x1044, 0);
    eb_symbol(&eb, "object", STB_GLOBAL, STT_OBJECT, text, 0x1050, 8);
    eb_symbol(&eb, "elsewhere", STB_GLOBAL, STT_FUNC, data, 0x9000, 8);
    eb_symbol(&eb, "missing", STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0);
    eb_symtab(&eb, ".symtab", SHT_SYMTAB);
    struct br2_image *image = open_built(&eb);
    assert_int_equal(range_count(image), 4);
    check_range(image, 0, 0x1000, 0x1018, "beta"); /* the alias's size, cut by the next */
    check_range(image, 1, 0x1018, 0x1030, "cut");
    check_range(image, 2, 0x1040, 0x1080, "open");
    check_range(image, 3, 0x1080, 0x1100, "long");
    assert_true(br2_image_has_symbol(image, "object"));
    assert_false(br2_image_has_symbol(image, "missing"));
    assert_string_equal(br2_image_range_at(image, 0x102f)->name, "cut");
    assert_null(br2_image_range_at(image, 0x1030));
    assert_null(br2_image_range_at(image, 0xfff));
    br2_image_close(image);
}

static void test_dynamic_symbols(void **state)
{
    (void)state;
    struct eb eb = eb_new(ET_DYN, EM_AARCH64);
    uint16_t text = (uint16_t)eb_text(&eb, ".text", 0x1000, nops, 0x100);
    eb_symbol(&eb, "exported", STB_GLOBAL, STT_FUNC, text, 0x1000, 0x10);
    eb_symtab(&eb, ".dynsym", SHT_DYNSYM);
    struct br2_image *image = open_built(&eb);
    assert_int_equal(br2_image_machine(image), BR2_MACHINE_AARCH64);
    assert_int_equal(range_count(image), 1);
    check_range(image, 0, 0x1000, 0x1010, "exported");
    br2_image_close(image);
}

static void test_segments_and_code(void **state)
{
    (void)state;
    struct eb eb = eb_new(ET_EXEC, EM_X86_64);
    uint8_t bytes[3] = {7, 8, 9};
    eb_text(&eb, ".text", 0x5000, nops, 0x100);
    eb_text(&eb, ".early", 0x2000, bytes, sizeof bytes);
    struct br2_image *image = open_built(&eb);
    const struct br2_segment *segments;
    assert_int_equal(br2_image_machine(image), BR2_MACHINE_X86_64);
    assert_int_equal(br2_image_segments(image, &segments), 2);
    assert_int_equal(segments[0].address, 0x2000);
    assert_int_equal(segments[1].address, 0x5000);
    size_t size;
    const uint8_t *code = br2_image_code(image, 0x2001, &size);
    assert_non_null(code);
    assert_int_equal(size, 2);
    assert_int_equal(code[0], 8);
    assert_null(br2_image_code(image, 0x2003, &size));
    assert_int_equal(size, 0);
    br2_image_close(image);
}

static void test_build_id(void **state)
{
    (void)state;
    static const uint8_t abi[16] = {0, 0, 0, 0, 3};
    static const uint8_t id[8] = {0xab, 0xcd, 3, 4, 5, 6, 7, 8};
    struct eb eb = eb_new(ET_DYN, EM_X86_64);
    struct br2_buf notes = {0};
    eb_note(&notes, "GNU", NT_GNU_ABI_TAG, abi, sizeof abi);
    eb_note(&notes, "Go!", NT_GNU_BUILD_ID, abi, 5);
    eb_note(&notes, "GNU", NT_GNU_BUILD_ID, id, sizeof id);
    eb_text(&eb, ".text", 0x1000, nops, 16);
    eb_add(&eb, ".note", SHT_NOTE, SHF_ALLOC, 0x500, notes.bytes, notes.size);
    br2_buf_done(&notes);
    struct br2_image *image = open_built(&eb);
    assert_int_equal(br2_image_build_id(image)->size, 8);
    assert_memory_equal(br2_image_build_id(image)->bytes, id, 8);
    br2_image_close(image);
}

static void put_le32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        at[i] = (uint8_t)(value >> (8 * i));
    }
}

static void test_plt_x86(void **state)
{
    (void)state;
    struct eb eb = eb_new(ET_DYN, EM_X86_64);
    uint8_t plt[48] = {0};
    plt[16] = 0xff; /* jmp *0x3010(%rip) at 0x1010: slot 0x3020 */
    plt[17] = 0x25;
    put_le32(plt + 18, 0x3020 - 0x1016);
    memcpy(plt + 32, "\xf3\x0f\x1e\xfa\x68\x00\x00\x00\x00", 9); /* endbr64; push 0 */
    eb_text(&eb, ".plt", 0x1000, plt, sizeof plt);
    uint32_t getenv_ = eb_symbol(&eb, "getenv", STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0);
    uint32_t puts_ = eb_symbol(&eb, "puts", STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0);
    uint32_t symbols = eb_symtab(&eb, ".dynsym", SHT_DYNSYM);
    Elf64_Rela relas[] = {
        {0x3018, ELF64_R_INFO(getenv_, R_X86_64_JUMP_SLOT), 0},
        {0x3020, ELF64_R_INFO(puts_, R_X86_64_JUMP_SLOT), 0},
    };
    eb_rela(&eb, ".rela.plt", symbols, 0, relas, 2);
    struct br2_image *image = open_built(&eb);
    assert_int_equal(range_count(image), 3);
    check_range(image, 0, 0x1000, 0x1010, "plt");
    check_range(image, 1, 0x1010, 0x1020, "puts@plt");
    check_range(image, 2, 0x1020, 0x1030, "getenv@plt");
    assert_true(br2_image_range_at(image, 0x1010)->plt);
    br2_image_close(image);
}

static void test_plt_aarch64(void **state)
{
    (void)state;
    struct eb eb = eb_new(ET_DYN, EM_AARCH64);
    static const uint32_t words[] = {
        0xa9bf7bf0, 0xb0000010, 0xf9400a11, 0x91004210, 0xd61f0220, 0xd503201f, /* header */
        0xb0000010, 0xf9400e11, 0x91006210, 0xd61f0220,                         /* slot 0x2018 */
        0xd503245f, 0xb0000010, 0xf9401211, 0x91008210, 0xd61f0220, /* bti; slot 0x2020 */
    };
    uint8_t plt[sizeof words];
    for (size_t i = 0; i < sizeof words / 4; i++) {
        put_le32(plt + 4 * i, words[i]);
    }
    eb_text(&eb, ".plt", 0x1000, plt, sizeof plt);
    uint32_t first = eb_symbol(&eb, "first", STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0);
    uint32_t second = eb_symbol(&eb, "second", STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0);
    uint32_t symbols = eb_symtab(&eb, ".dynsym", SHT_DYNSYM);
    Elf64_Rela relas[] = {
        {0x2018, ELF64_R_INFO(first, R_AARCH64_JUMP_SLOT), 0},
        {0x2020, ELF64_R_INFO(second, R_AARCH64_JUMP_SLOT), 0},
    };
    eb_rela(&eb, ".rela.plt", symbols, 0, relas, 2);
    struct br2_image *image = open_built(&eb);
    assert_int_equal(range_count(image), 3);
    check_range(image, 0, 0x1000, 0x1018, "plt");
    check_range(image, 1, 0x1018, 0x1028, "first@plt");
    check_range(image, 2, 0x1028, 0x103c, "second@plt");
    br2_image_close(image);
}

static void put_fde(struct br2_buf *buf, uint64_t section, uint64_t start, uint32_t size)
{
    br2_buf_le32(buf, 16);
    br2_buf_le32(buf, (uint32_t)buf->size); /* back to the CIE at 0 */
    br2_buf_le32(buf, (uint32_t)(start - (section + buf->size)));
    br2_buf_le32(buf, size);
    br2_buf_le32(buf, 0); /* no augmentation data, padding */
}

static void test_frames(void **state)
{
    (void)state;
    static const uint8_t cie[] = {20,   0,    0,  0, 0,    0, 0, 0, 1, 'z', 'R', 0,
                                  0x01, 0x78, 16, 1, 0x1b, 0, 0, 0, 0, 0,   0,   0};
    struct eb eb = eb_new(ET_DYN, EM_X86_64);
    struct br2_buf frames = {0};
    br2_buf_put(&frames, cie, sizeof cie);
    put_fde(&frames, 0x4000, 0x1010, 0x40); /* its start is a symbol's */
    put_fde(&frames, 0x4000, 0x1050, 0x200);
    put_fde(&frames, 0x4000, 0x8000, 0x10); /* no code */
    put_fde(&frames, 0x4000, 0x1000, 0x40); /* up to the symbol only */
    uint16_t text = (uint16_t)eb_text(&eb, ".text", 0x1000, nops, 0x100);
    eb_add(&eb, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, 0x4000, frames.bytes, frames.size);
    br2_buf_done(&frames);
    eb_symbol(&eb, "named", STB_GLOBAL, STT_FUNC, text, 0x1010, 0x10);
    eb_symtab(&eb, ".symtab", SHT_SYMTAB);
    struct br2_image *image = open_built(&eb);
    assert_int_equal(range_count(image), 3);
    check_range(image, 0, 0x1000, 0x1010, "");
    check_range(image, 1, 0x1010, 0x1020, "named");
    check_range(image, 2, 0x1050, 0x1100, "");
    assert_false(br2_image_range_at(image, 0x1050)->from_symbol);
    br2_image_close(image);
}

static void test_module(void **state)
{
    (void)state;
    static const uint8_t code[] = {0xe8, 0, 0, 0, 0, 0xe8, 0, 0, 0, 0, 0xc3};
    struct eb eb = eb_new(ET_REL, EM_X86_64);
    uint32_t text = eb_text(&eb, ".text", 0, code, sizeof code);
    uint32_t init = eb_text(&eb, ".init.text", 0, nops, 0x20);
    uint32_t here = eb_symbol(&eb, "setup", STB_GLOBAL, STT_FUNC, (uint16_t)init, 4, 8);
    uint32_t other = eb_symbol(&eb, "printk", STB_GLOBAL, STT_NOTYPE, SHN_UNDEF, 0, 0);
    eb_symbol(&eb, "run", STB_GLOBAL, STT_FUNC, (uint16_t)text, 0, sizeof code);
    uint32_t symbols = eb_symtab(&eb, ".symtab", SHT_SYMTAB);
    Elf64_Rela relas[] = {
        {1, ELF64_R_INFO(here, R_X86_64_PLT32), -4},
        {6, ELF64_R_INFO(other, R_X86_64_PLT32), -4},
    };
    eb_rela(&eb, ".rela.text", symbols, text, relas, 2);
    struct br2_image *image = open_built(&eb);
    const struct br2_segment *segments;
    assert_int_equal(br2_image_segments(image, &segments), 2);
    assert_int_equal(segments[0].address, segments[0].file_offset);
    assert_int_equal(segments[1].address, segments[1].file_offset);
    uint64_t base = segments[0].address;
    check_range(image, 0, base, base + sizeof code, "run");
    check_range(image, 1, segments[1].address + 4, segments[1].address + 12, "setup");
    struct br2_decoder *decoder;
    struct br2_code decoded;
    assert_int_equal(br2_decoder_new(BR2_MACHINE_X86_64, &decoder, NULL), 0);
    assert_int_equal(br2_code_decode(decoder, image, base, base + sizeof code, &decoded, NULL), 0);
    assert_int_equal(decoded.count, 3);
    assert_int_equal(decoded.insns[0].kind, BR2_INSN_CALL);
    assert_int_equal(decoded.insns[0].target, segments[1].address + 4);
    assert_int_equal(decoded.insns[1].kind, BR2_INSN_CALL);
    assert_int_equal(decoded.insns[1].target, 0);
    br2_code_done(&decoded);
    br2_decoder_free(decoder);
    br2_image_close(image);
}

static void check_module_layout(uint16_t machine, uint64_t behind)
{
    struct eb eb = eb_new(ET_REL, machine);
    eb_text(&eb, ".text", 0, nops, 0x20);
    eb_add(&eb, ".plt", SHT_PROGBITS, SHF_ALLOC, 0, "", 1);
    eb_text(&eb, ".init.text", 0, nops, 0x20);
    eb_text(&eb, ".exit.text", 0, nops, 0x20);
    struct br2_image *image = open_built(&eb);
    const struct br2_segment *segments;
    assert_int_equal(br2_image_segments(image, &segments), 3);
    assert_int_equal(segments[0].mapped_offset, 0);
    assert_int_equal(segments[1].mapped_offset, UINT64_MAX);
    assert_int_equal(segments[2].mapped_offset, behind);
    br2_image_close(image);
}

static void test_module_layout(void **state)
{
    (void)state;
    check_module_layout(EM_X86_64, 0x20);
    check_module_layout(EM_AARCH64, UINT64_MAX); /* the loader makes .plt larger */
}

static void check_refused(struct eb *eb, int status, const char *words)
{
    struct br2_image *image;
    struct br2pgo_error err = {0};
    assert_int_equal(br2_image_open(eb_write(eb), &image, &err), status);
    unlink(eb->path);
    assert_null(image);
    assert_non_null(strstr(err.message, words));
    assert_true(err.hint[0] != '\0');
}

static void test_refused(void **state)
{
    (void)state;
    struct br2_image *image;
    struct eb eb = eb_new(ET_DYN, EM_X86_64);
    eb_add(&eb, ".data", SHT_PROGBITS, SHF_ALLOC, 0x9000, nops, 16);
    check_refused(&eb, BR2PGO_UNSUPPORTED, "no executable code");
    eb = eb_new(ET_DYN, EM_S390);
    eb_text(&eb, ".text", 0x1000, nops, 16);
    check_refused(&eb, BR2PGO_UNSUPPORTED, "another machine (ELF machine 22)");
    eb = eb_new(ET_DYN, EM_X86_64);
    eb_text(&eb, ".text", UINT64_MAX - 4, nops, 16);
    struct br2_buf file = {0};
    eb_finish(&eb, &file);
    char path[64];
    snprintf(path, sizeof path, "/tmp/br2-refused-%d", getpid());
    eb_save(path, file.bytes, file.size);
    assert_int_equal(br2_image_open(path, &image, NULL), BR2PGO_CORRUPT); /* wraps around */
    Elf64_Phdr header;
    memcpy(&header, file.bytes + sizeof(Elf64_Ehdr), sizeof header);
    header.p_vaddr = 0x1000;
    header.p_filesz = header.p_memsz = file.size; /* from behind the headers on: too much */
    memcpy(file.bytes + sizeof(Elf64_Ehdr), &header, sizeof header);
    eb_save(path, file.bytes, file.size);
    assert_int_equal(br2_image_open(path, &image, NULL), BR2PGO_CORRUPT);
    file.bytes[EI_DATA] = ELFDATA2MSB;
    eb_save(path, file.bytes, file.size);
    struct br2pgo_error err = {0};
    assert_int_equal(br2_image_open(path, &image, &err), BR2PGO_UNSUPPORTED);
    assert_non_null(strstr(err.message, path));
    assert_non_null(strstr(err.message, "big-endian"));
    file.bytes[EI_DATA] = ELFDATA2LSB;
    file.bytes[EI_CLASS] = ELFCLASS32;
    eb_save(path, file.bytes, file.size);
    assert_int_equal(br2_image_open(path, &image, NULL), BR2PGO_UNSUPPORTED);
    eb_save(path, "\x28\xb5\x2f\xfd and more", 13);
    assert_int_equal(br2_image_open(path, &image, &err), BR2PGO_UNSUPPORTED);
    assert_non_null(strstr(err.hint, "decompress"));
    unlink(path);
    assert_int_equal(br2_image_open(path, &image, NULL), BR2PGO_IO);
    br2_buf_done(&file);
}

static void test_sections(void **state)
{
    (void)state;
    struct eb eb = eb_new(ET_DYN, EM_X86_64);
    eb_text(&eb, ".text", 0x1000, nops, 0x100);
    eb_add(&eb, ".data", SHT_PROGBITS, SHF_ALLOC, 0x9000, nops, 16);
    struct br2_image *image = open_built(&eb);
    struct br2_code_section section;
    assert_true(br2_image_has_section(image, ".data"));
    assert_false(br2_image_has_section(image, ".dat"));
    assert_true(br2_image_section_at(image, 0x10ff, &section));
    assert_string_equal(section.name, ".text");
    assert_int_equal(section.start, 0x1000);
    assert_int_equal(section.end, 0x1100);
    assert_false(br2_image_section_at(image, 0xfff, &section));
    assert_false(br2_image_section_at(image, 0x1100, &section));
    assert_false(br2_image_section_at(image, 0x9000, &section));
    br2_image_close(image);
}

int main(void)
{
    memset(nops, 0x90, sizeof nops);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_dynamic_symbols),
        cmocka_unit_test(test_segments_and_code),
        cmocka_unit_test(test_build_id),
        cmocka_unit_test(test_plt_x86),
        cmocka_unit_test(test_plt_aarch64),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_module),
        cmocka_unit_test(test_module_layout),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_sections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
