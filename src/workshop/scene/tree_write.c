/// A tree written as YAML with libyaml's emitter, which knows what must be quoted.
#include "base/error.h"
#include "scene/tree.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

static bool emit_scalar(yaml_emitter_t* out, const char* text, bool quoted)
{
    yaml_event_t event;
    yaml_scalar_style_t style = quoted ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_PLAIN_SCALAR_STYLE;
    return yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t*)text,
                                        (int)strlen(text), 1, 1, style) &&
           yaml_emitter_emit(out, &event);
}

static bool emit_node(yaml_emitter_t* out, const node* n)
{
    if (n->kind == NODE_SCALAR) return emit_scalar(out, n->text, n->quoted);
    yaml_event_t event;
    bool list = n->kind == NODE_LIST;
    int made = list ? yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
                                                           n->flow ? YAML_FLOW_SEQUENCE_STYLE
                                                                   : YAML_BLOCK_SEQUENCE_STYLE)
                    : yaml_mapping_start_event_initialize(&event, NULL, NULL, 1,
                                                          n->flow ? YAML_FLOW_MAPPING_STYLE
                                                                  : YAML_BLOCK_MAPPING_STYLE);
    if (!made || !yaml_emitter_emit(out, &event)) return false;
    for (int i = 0; i < n->count; i++) {
        if (!list && !emit_scalar(out, n->key[i], false)) return false;
        if (!emit_node(out, n->item[i])) return false;
    }
    made = list ? yaml_sequence_end_event_initialize(&event)
                : yaml_mapping_end_event_initialize(&event);
    return made && yaml_emitter_emit(out, &event);
}

talus_status tree_write(const node* root, const char* head, const char* path, talus_error* error)
{
    FILE* file = fopen(path, "w");
    if (!file) return error_set(error, TALUS_ERR_IO, "cannot write %s: %s", path, strerror(errno));
    yaml_emitter_t out;
    bool ok = fputs(head, file) >= 0 && yaml_emitter_initialize(&out);
    if (ok) {
        yaml_emitter_set_output_file(&out, file);
        yaml_emitter_set_unicode(&out, 1);
        yaml_emitter_set_width(&out, -1);
        yaml_event_t event;
        ok = yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING) &&
             yaml_emitter_emit(&out, &event) &&
             yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1) &&
             yaml_emitter_emit(&out, &event) && emit_node(&out, root) &&
             yaml_document_end_event_initialize(&event, 1) && yaml_emitter_emit(&out, &event) &&
             yaml_stream_end_event_initialize(&event) && yaml_emitter_emit(&out, &event);
        yaml_emitter_delete(&out);
    }
    if (fclose(file) != 0) ok = false;
    if (!ok)
        return error_set(error, TALUS_ERR_IO, "could not write all of %s: %s", path,
                         strerror(errno));
    return TALUS_OK;
}
