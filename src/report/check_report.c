/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "report/check_report.h"

#include <jansson.h>
#include <stdio.h>

#include "report/json.h"

#define PERCENT 100.0

bool br2_check_missed(const struct br2_check_figure *figure)
{
    if (!figure->known || !figure->limited) {
        return false;
    }
    return figure->at_least ? !(figure->value >= figure->limit) : !(figure->value <= figure->limit);
}

static size_t count_missed(const struct br2_check_report *report)
{
    size_t missed = 0;
    for (size_t i = 0; i < report->figure_count; i++) {
        missed += br2_check_missed(&report->figures[i]);
    }
    return missed;
}

static const char *number_text(const struct br2_check_figure *figure, double number, char *text,
                               size_t size)
{
    snprintf(text, size, figure->share ? "%.2f%%" : "%.1f",
             figure->share ? PERCENT * number : number);
    return text;
}

static void put_verdict(const struct br2_check_report *report, struct br2_buf *out)
{
    char value[32];
    char limit[32];
    bool first = true;
    br2_buf_printf(out, "%s: %s", report->path,
                   count_missed(report) == 0 ? "good enough" : "not good enough: ");
    for (size_t i = 0; i < report->figure_count; i++) {
        const struct br2_check_figure *figure = &report->figures[i];
        if (br2_check_missed(figure)) {
            br2_buf_printf(out, "%s%s is %s, %s %s is wanted", first ? "" : "; ", figure->name,
                           number_text(figure, figure->value, value, sizeof value),
                           figure->at_least ? "at least" : "at most",
                           number_text(figure, figure->limit, limit, sizeof limit));
            first = false;
        }
    }
    br2_buf_u8(out, '\n');
}

static void put_figure(const struct br2_check_figure *figure, struct br2_buf *out)
{
    char value[32];
    char limit[32] = "-";
    if (figure->limited) {
        char number[24];
        snprintf(limit, sizeof limit, "%s %s", figure->at_least ? ">=" : "<=",
                 number_text(figure, figure->limit, number, sizeof number));
    }
    br2_buf_printf(out, "%-6s %-14s %10s  %-10s  %s%s%s\n",
                   br2_check_missed(figure) ? "MISSED" : (figure->limited ? "ok" : ""),
                   figure->name, number_text(figure, figure->value, value, sizeof value), limit,
                   figure->about, figure->note[0] != '\0' ? ": " : "", figure->note);
}

void br2_check_text(const struct br2_check_report *report, struct br2_buf *out)
{
    put_verdict(report, out);
    br2_buf_printf(out, "\n%-6s %-14s %10s  %-10s  (%s)\n", "", "figure", "value", "wanted",
                   report->format);
    for (size_t i = 0; i < report->figure_count; i++) {
        if (report->figures[i].known) {
            put_figure(&report->figures[i], out);
        }
    }
    if (report->loss_count != 0) {
        br2_buf_str(out, "\nlost\n");
    }
    for (size_t i = 0; i < report->loss_count; i++) {
        const struct br2_check_loss *loss = &report->losses[i];
        br2_buf_printf(out, "%8.2f%%  of %s: %s\n", PERCENT * loss->share, loss->stage,
                       loss->reason);
    }
}

static json_t *figure_json(const struct br2_check_figure *figure)
{
    json_t *object = json_object();
    json_object_set_new(object, "name", json_string(figure->name));
    json_object_set_new(object, "value", json_real(figure->value));
    json_object_set_new(object, "limit", figure->limited ? json_real(figure->limit) : json_null());
    json_object_set_new(object, "at_least", json_boolean(figure->at_least));
    json_object_set_new(object, "missed", json_boolean(br2_check_missed(figure)));
    json_object_set_new(object, "about", json_string(figure->about));
    json_object_set_new(object, "note",
                        figure->note[0] != '\0' ? br2_json_string(figure->note) : json_null());
    return br2_json_whole(object, 7);
}

static json_t *figures_json(const struct br2_check_report *report)
{
    json_t *array = json_array();
    size_t count = 0;
    for (size_t i = 0; i < report->figure_count; i++) {
        if (report->figures[i].known) {
            json_array_append_new(array, figure_json(&report->figures[i]));
            count++;
        }
    }
    return br2_json_whole(array, count);
}

static json_t *losses_json(const struct br2_check_report *report)
{
    json_t *array = json_array();
    for (size_t i = 0; i < report->loss_count; i++) {
        const struct br2_check_loss *loss = &report->losses[i];
        json_t *object = json_object();
        json_object_set_new(object, "stage", json_string(loss->stage));
        json_object_set_new(object, "reason", json_string(loss->reason));
        json_object_set_new(object, "share", json_real(loss->share));
        json_array_append_new(array, br2_json_whole(object, 3));
    }
    return br2_json_whole(array, report->loss_count);
}

int br2_check_json(const struct br2_check_report *report, struct br2_buf *out,
                   struct br2pgo_error *err)
{
    json_t *object = json_object();
    json_object_set_new(object, "version", json_integer(1));
    json_object_set_new(object, "path", br2_json_string(report->path));
    json_object_set_new(object, "format", json_string(report->format));
    json_object_set_new(object, "good", json_boolean(count_missed(report) == 0));
    json_object_set_new(object, "figures", figures_json(report));
    json_object_set_new(object, "lost", losses_json(report));
    return br2_json_write(object, 6, out, err);
}
