/// LMGC90's text files: what its readers share.
#ifndef TALUS_SCENE_IMPORT_LMGC90_H
#define TALUS_SCENE_IMPORT_LMGC90_H

#include "scene/import.h"

enum { LMGC90_WORD = 8 };

/// What a body touches with.
typedef struct lmgc90_contactor {
    char kind[LMGC90_WORD], colour[LMGC90_WORD];
    int64_t line;
    double radius;   ///< byrd
    double height;   ///< High: half of it
    double axes[3];  ///< axe1, ...: halves
    double shift[3]; ///< in the body's frame
    double frame[9]; ///< its axes as columns, in the body's frame
    int point_count;
    int64_t point_capacity;
    double* point; ///< [point_count][3] in the body's frame
} lmgc90_contactor;

typedef struct lmgc90_body {
    int dim;
    int64_t number, line;
    char behaviour[LMGC90_WORD];
    double place[3];    ///< coo1, ...; 2D: the third is an angle
    double velocity[3]; ///< of DOF.INI
    double spin[3];     ///< in the body's frame
    double angle;       ///< 2D
    double frame[9];    ///< 3D: axes as columns
    bool driven;        ///< DRV_DOF.DAT moves it
    bool fixed;         ///< with velocity 0
    int contactor_count;
    int64_t contactor_capacity;
    lmgc90_contactor* contactor;
} lmgc90_body;

/// A law of contact and who it is for.
typedef struct lmgc90_law {
    char name[LMGC90_WORD];
    double friction, restitution, tangential_restitution; ///< negative: it has none
} lmgc90_law;

typedef struct lmgc90_sight {
    char colour[2][LMGC90_WORD], law[LMGC90_WORD];
} lmgc90_sight;

typedef struct lmgc90_files {
    int64_t body_count, body_capacity;
    lmgc90_body* body;
    int density_count, law_count, sight_count;
    int64_t density_capacity, law_capacity, sight_capacity;
    struct lmgc90_density {
        char name[LMGC90_WORD];
        double density;
    } * density;
    lmgc90_law* law;
    lmgc90_sight* sight;
} lmgc90_files;

/// Number after "key =" in a line, if it is there and is one.
bool lmgc90_value(const char* line, const char* key, double* out);
/// Copy a word of at most 7 signs.
void lmgc90_copy(char out[LMGC90_WORD], const char* word);

/// Read BODIES.DAT.
talus_status lmgc90_read_bodies(import_file* f, lmgc90_files* all);
/// Read DOF.INI, and which bodies DRV_DOF.DAT moves.
talus_status lmgc90_read_dof(import_file* f, lmgc90_files* all);
talus_status lmgc90_read_driven(import_file* f, lmgc90_files* all);
/// Read densities and gravity of BULK_BEHAV.DAT, laws and their see-table of TACT_BEHAV.DAT.
talus_status lmgc90_read_bulk(import_file* f, lmgc90_files* all, import_model* m);
talus_status lmgc90_read_laws(import_file* f, lmgc90_files* all);
void lmgc90_free(lmgc90_files* all);

#endif
