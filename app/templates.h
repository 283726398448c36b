/// Starter scenes of `talus new`.
#ifndef TALUS_APP_TEMPLATES_H
#define TALUS_APP_TEMPLATES_H

/// A commented scene. Lines that begin with "2|" or "3|" are of that dimension only. "@pattern:key"
/// at the end of a line stands for what the table of keys says about that key.
typedef struct scene_template {
    const char* name;
    const char* summary; ///< one line
    const char* text;
} scene_template;

/// The templates; the last has no name.
extern const scene_template scene_templates[];

#endif
