/// Mesh files.
///
/// Files are written here byte by byte, read back and compared with what was written; a damaged
/// file must give an error that names it and, where there are lines, the line.
#include "base/rng.h"
#include "geometry/mesh_internal.h"
#include "scene/mesh_file.h"
#include "support.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char* const path = "test_mesh_file.tmp";

static void write_file(const void* bytes, size_t size)
{
    FILE* f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static triangles read_text(const char* text)
{
    triangles t;
    talus_error error;
    write_file(text, strlen(text));
    check_ok(triangles_read(path, &t, &error), error);
    return t;
}

/// Reading must fail, with this in the message.
static void check_refused(const void* bytes, size_t size, const char* expected)
{
    triangles t;
    talus_error error = {0};
    write_file(bytes, size);
    talus_status status = triangles_read(path, &t, &error);
    printf("%s: \"%s\"\n", status < 0 ? "refused" : "READ", error.text);
    assert_true(status < 0);
    assert_null(t.vertex);
    assert_non_null(strstr(error.text, expected));
}

static void refuse_text(const char* text, const char* expected)
{
    check_refused(text, strlen(text), expected);
}

/// The twelve triangles of the cube [0, 1]^3, as corners of three bits.
static const int cube[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                                {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};

/// Binary STL of the cube under a head text; returns its size.
static size_t binary_cube(unsigned char* out, const char* head)
{
    memset(out, 0, 84);
    memcpy(out, head, strlen(head));
    out[80] = 12;
    unsigned char* at = out + 84;
    for (int t = 0; t < 12; t++) {
        memset(at, 0, 50);
        for (int k = 0; k < 9; k++) {
            float x = (float)(cube[t][k / 3] >> (k % 3) & 1);
            memcpy(at + 12 + 4 * k, &x, 4); // tests run on little-endian machines
        }
        at += 50;
    }
    return (size_t)(at - out);
}

static void text_cube(char* out, size_t size)
{
    size_t n = (size_t)snprintf(out, size, "solid a cube\n");
    for (int t = 0; t < 12; t++) {
        n += (size_t)snprintf(out + n, size - n, "facet normal 0 0 0\n  outer loop\r\n");
        for (int c = 0; c < 3; c++)
            n += (size_t)snprintf(out + n, size - n, "\tvertex %d %d.0 %de0\n", cube[t][c] & 1,
                                  cube[t][c] >> 1 & 1, cube[t][c] >> 2);
        n += (size_t)snprintf(out + n, size - n, "endloop\nENDFACET\n");
    }
    snprintf(out + n, size - n, "endsolid a cube\n");
}

/// Eight corners, the right triangles, and a closed surface of Euler characteristic 2.
static void check_cube(triangles* t)
{
    assert_int_equal(t->vertex_count, 8);
    assert_int_equal(t->triangle_count, 12);
    assert_int_equal(t->group_count, 1);
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < 9; k++)
            assert_true(t->vertex[3 * t->triangle[3 * i + k / 3] + k % 3] ==
                        (cube[i][k / 3] >> (k % 3) & 1));
    mesh* m;
    talus_error error;
    check_ok(mesh_make(t, 0.0, &m, &error), error);
    assert_int_equal(m->vertex_count - m->edge_count + m->triangle_count, 2);
    int sharp = 0;
    for (int e = 0; e < m->edge_count; e++) sharp += m->edge_sharp[e];
    assert_int_equal(sharp, 12);
    check_close("bound of the cube", mesh_bound(m), sqrt(3.0), 1e-15, "roundoff");
    mesh_free(m);
    triangles_free(t);
}

static void test_cube_files(void** state)
{
    (void)state;
    unsigned char bytes[1000];
    char text[8000];
    triangles t;
    talus_error error;
    const char* heads[] = {"binary", "solid but binary"};
    for (int i = 0; i < 2; i++) {
        write_file(bytes, binary_cube(bytes, heads[i]));
        check_ok(triangles_read(path, &t, &error), error);
        check_cube(&t);
    }
    text_cube(text, sizeof text);
    t = read_text(text);
    check_cube(&t);
}

static void test_obj_files(void** state)
{
    (void)state;
    // Polygons, all forms of corners, negative ones, comments, joined lines, groups.
    triangles t =
        read_text("# a comment\nmtllib x.mtl\ng empty\no first\n"
                  "v 0 0 0\nv 1 0 0 1.0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nvt 0 0\n"
                  "f 1/1/1 2//1 \\\n 3/1 4\ns off\n"
                  "g second\nv 0 0 1\nusemtl y\nf -1 -5 -4 # comment\ng empty at the end");
    assert_int_equal(t.triangle_count, 3);
    assert_int_equal(t.vertex_count, 5);
    assert_int_equal(t.group_count, 2);
    const int32_t expected[9] = {0, 1, 2, 0, 2, 3, 4, 0, 1}, groups[3] = {0, 0, 1};
    assert_memory_equal(t.triangle, expected, sizeof expected);
    assert_memory_equal(t.group, groups, sizeof groups);
    triangles_free(&t);
    // Welding: 1e-10 of the extent apart is one corner, 1e-8 is not; also across a cube's border.
    t = read_text("v 0 0 0\nv 10 0 0\nv 0 10 0\nv 10 1e-9 0\nv -1e-9 10 0\nv 10 1e-7 0\nv 5 5 5\n"
                  "f 1 2 3\nf 4 5 7\nf 1 6 7");
    assert_int_equal(t.vertex_count, 5);
    assert_int_equal(t.triangle[3], t.triangle[1]);
    assert_int_equal(t.triangle[4], t.triangle[2]);
    triangles_free(&t);
}

static void test_bad_files(void** state)
{
    (void)state;
    unsigned char bytes[1000];
    char text[8000];
    size_t size = binary_cube(bytes, "solid");
    check_refused(bytes, size - 7, "test_mesh_file.tmp: byte 80:");
    bytes[82] = 0xff;
    check_refused(bytes, size, "test_mesh_file.tmp: byte 80:");
    size = binary_cube(bytes, "");
    memset(bytes + 84 + 50 + 12, 0xff, 4);
    check_refused(bytes, size,
                  "test_mesh_file.tmp: byte 146: corner 1 of triangle 2 is not finite");
    memset(bytes, 0, 84);
    check_refused(bytes, 84, "no triangles");
    check_refused(bytes, 40, "neither");
    check_refused("", 0, "no triangles");
    text_cube(text, sizeof text);
    strstr(text, "endloop")[0] = '\0';
    refuse_text(text, "test_mesh_file.tmp:6: the file ends within a facet");
    refuse_text("solid\nvertex 0 0 0\n", "test_mesh_file.tmp:2: a vertex outside");
    refuse_text("solid\nfacet\nvertex 0 0 nan\n",
                "test_mesh_file.tmp:3: a coordinate is not finite");
    refuse_text("solid\nfacet\nvertex 0 0\n", "test_mesh_file.tmp:3: a corner needs three");
    refuse_text("solid\nfacet\nvertex 0 0 1x\n", "test_mesh_file.tmp:3: not a number: 1x");
    refuse_text("solid\nfacet\nendfacet", "test_mesh_file.tmp:3: a facet ends without");
    refuse_text("solid\nfacet\nfacet", "test_mesh_file.tmp:3: a facet begins within");
    refuse_text("solid\nbanana", "test_mesh_file.tmp:2: not known in a text STL: banana");
    refuse_text("v 0 0 1e300\n", "test_mesh_file.tmp:1: a coordinate is not finite or too large");
    refuse_text("v 0 0 0\nv 1 0 0\n\nf 1 2 3\n",
                "test_mesh_file.tmp:4: the file has no such corner");
    refuse_text("v 0 0 0\nf 1 1 -2\n", "test_mesh_file.tmp:2: the file has no such corner");
    refuse_text("v 0 0 0\nf 1 0 1\n", "test_mesh_file.tmp:2: the file has no such corner");
    refuse_text("v 0 0 0\nf 1 99999999999999999999 1\n", "test_mesh_file.tmp:2: not a corner");
    refuse_text("v 0 0 0\nf 1 1\n", "test_mesh_file.tmp:2: a face needs three corners");
    refuse_text("v 0 0 0\n", "no triangles");
    refuse_text("some text that is no mesh\n", "no triangles");
    talus_error error;
    triangles t;
    assert_int_equal(triangles_read("no/such/file.stl", &t, &error), TALUS_ERR_IO);
    assert_non_null(strstr(error.text, "no/such/file.stl: cannot be opened"));
    assert_int_equal(triangles_read(".", &t, &error), TALUS_ERR_IO);
    assert_string_equal(error.text, ". is a folder; a file is needed");
    // What may have no end, or no beginning.
    assert_int_equal(triangles_read("/dev/zero", &t, &error), TALUS_ERR_IO);
    assert_string_equal(error.text, "/dev/zero is a pipe or a device; a file is needed");
    unlink("test_mesh_file.pipe");
    assert_int_equal(mkfifo("test_mesh_file.pipe", 0600), 0);
    assert_int_equal(triangles_read("test_mesh_file.pipe", &t, &error), TALUS_ERR_IO);
    unlink("test_mesh_file.pipe");
}

/// Random damage to good files: an error or a mesh, never a crash (the sanitizers watch).
static void test_damaged_files(void** state)
{
    (void)state;
    rng r = rng_make(4, 20, 0);
    char good[3][8000];
    size_t sizes[3];
    sizes[0] = binary_cube((unsigned char*)good[0], "solid");
    text_cube(good[1], sizeof good[1]);
    strcpy(good[2],
           "o a\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1/1/1 2//1 3 4\nf -1 -2 -3 \\\n-4\n");
    sizes[1] = strlen(good[1]), sizes[2] = strlen(good[2]);
    int read = 0, refused = 0;
    for (int i = 0; i < test_count(6000, 1000); i++) {
        char bytes[8000];
        size_t size = sizes[i % 3];
        memcpy(bytes, good[i % 3], size);
        for (int k = (int)rng_below(&r, 4) + i % 2; k > 0; k--)
            bytes[rng_below(&r, size)] =
                (char)(i % 5 ? 32 + rng_below(&r, 95) : rng_below(&r, 256));
        if (rng_below(&r, 3) == 0) size = rng_below(&r, size + 1);
        write_file(bytes, size);
        triangles t;
        talus_error error;
        if (triangles_read(path, &t, &error) < 0) {
            refused++;
            continue;
        }
        read++;
        mesh* m;
        if (mesh_make(&t, 0.0, &m, &error) == TALUS_OK) mesh_free(m);
        triangles_free(&t);
    }
    printf("%d damaged files read, %d refused\n", read, refused);
    assert_true(read > 50 && refused > 50);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cube_files),
        cmocka_unit_test(test_obj_files),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_damaged_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
