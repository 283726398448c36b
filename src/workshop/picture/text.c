/// Texts with subscripts and superscripts, by cairo's plain ("toy") text functions.
#include "picture/text.h"

#include "base/words.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/// Height of capitals, depth of descenders, and what a script is raised, lowered and shrunk by;
/// all in units of the size of the text.
#define CAPITAL 0.74
#define DESCENT 0.22
#define RAISE 0.42
#define LOWER 0.21
#define SHRINK 0.72

enum { TEXT_DEPTH = 4 };

// ---- copies -------------------------------------------------------------------------------------

char* text_copy(const char* text)
{
    char* copy = strdup(text);
    if (!copy) return NULL;
    for (unsigned char* at = (unsigned char*)copy; *at;) {
        const size_t length = utf8_length((const char*)at);
        // Control characters have no picture.
        if (length == 0 || *at < 0x20) *at = length == 0 ? '?' : ' ';
        at += length == 0 ? 1 : length;
    }
    return copy;
}

// ---- setting -----------------------------------------------------------------------------------

/// A text being set: where the pen is, and the room taken so far. Nothing is drawn if !ink.
typedef struct setter {
    cairo_t* cr;
    bool ink;
    double x, y;         ///< of the baseline's left end
    double pen;          ///< from there
    double above, below; ///< of what was set
} setter;

static void set_plain(setter* s, const char* text, size_t length, double size, double rise)
{
    char* part = length > 0 ? strndup(text, length) : NULL;
    if (!part) return; // of no length, or no memory: the rest of the figure can do without
    cairo_text_extents_t extents;
    cairo_set_font_size(s->cr, size);
    cairo_text_extents(s->cr, part, &extents);
    if (s->ink) {
        cairo_move_to(s->cr, s->x + s->pen, s->y - rise);
        cairo_show_text(s->cr, part);
    }
    s->pen += extents.x_advance;
    s->above = fmax(s->above, rise + CAPITAL * size);
    s->below = fmax(s->below, DESCENT * size - rise);
    free(part);
}

static bool begins_script(const char* at)
{
    return (at[0] == '_' || at[0] == '^') && at[1] == '{';
}

/// Set `text` until its end or until the brace that closes it; returns where that is. A script that
/// follows another one stands above or below it.
static const char* set_run(setter* s, const char* text, double size, double rise, int depth)
{
    const char* at = text;
    double script_start = -1.0, script_end = 0.0;
    while (*at && !(depth > 0 && *at == '}')) {
        if (begins_script(at) && depth < TEXT_DEPTH) {
            const bool above = at[0] == '^';
            if (script_start < 0.0) {
                script_start = script_end = s->pen;
            }
            s->pen = script_start;
            at = set_run(s, at + 2, SHRINK * size, rise + (above ? RAISE : -LOWER) * size,
                         depth + 1);
            if (*at == '}') at++;
            script_end = fmax(script_end, s->pen);
            s->pen = script_end;
            continue;
        }
        script_start = -1.0;
        const char* from = at++;
        while (*at && !(depth > 0 && *at == '}') && !(begins_script(at) && depth < TEXT_DEPTH)) {
            at++;
        }
        set_plain(s, from, (size_t)(at - from), size, rise);
    }
    return at;
}

static void choose_font(cairo_t* cr)
{
    cairo_select_font_face(cr, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
}

text_size text_measure(cairo_t* cr, const char* text, double size)
{
    if (!text || !*text) return (text_size){0};
    setter s = {.cr = cr};
    choose_font(cr);
    set_run(&s, text, size, 0.0, 0);
    return (text_size){s.pen, s.above, s.below};
}

void text_draw(cairo_t* cr, const char* text, double size, double x, double y, double align,
               double angle)
{
    if (!text || !*text) return;
    const double width = align != 0.0 ? text_measure(cr, text, size).width : 0.0;
    cairo_save(cr);
    cairo_translate(cr, x, y);
    cairo_rotate(cr, -angle);
    choose_font(cr);
    setter s = {.cr = cr, .ink = true, .x = -align * width};
    set_run(&s, text, size, 0.0, 0);
    cairo_new_path(cr);
    cairo_restore(cr);
}
