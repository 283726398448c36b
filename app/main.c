/// The talus program: looks up the subcommand and hands over.
#include "app.h"
#include "base/words.h"

#include "scene/reader.h"

#include <errno.h>
#include <locale.h>
#include <string.h>

#define RUN_OPTIONS                                                                                \
    "  --threads N            threads to use [as the scene says]\n"                                \
    "  --steps N              stop when N steps in total are done\n"                               \
    "  --checkpoint SECONDS   wall seconds between checkpoints [as the scene says]\n"              \
    "  --dump-problems[=N]    write at most N [10] hard steps into DIR/problems, as contact\n"     \
    "                         problems in FCLIB's layout for `talus solve` and other solvers\n"    \
    "  --quiet                no progress and no report, only errors\n"                            \
    "  --json                 print summary.json on standard output at the end\n"

static const command commands[] = {
    {"run", "run SCENE [-o DIR] [--set key.path=value]... [options]", "carry out a scene",
     "SCENE is the path of a scene file or the name of a ready-made one (see `talus scenes`).\n\n"
     "  -o, --output DIR       where the results go [runs/NAME, runs/NAME-2, ...]\n"
     "  --set key.path=value   override a value of the scene; may be repeated\n"
     "  --force                replace the run that is in DIR (only files Talus "
     "wrote)\n" RUN_OPTIONS "\nCtrl-C finishes the step, writes a checkpoint and exits with status "
     "75; `talus resume DIR`\n"
     "goes on. A second Ctrl-C ends at once; the run then goes on from its last checkpoint.\n\n"
     "Examples:\n"
     "  talus run hopper\n"
     "  talus run hopper -o runs/rough --set materials.glass.friction=0.8 --threads 4\n"
     "  talus run my-scene.yaml --force\n",
     command_run},
    {"resume", "resume DIR [options]", "go on with a run that was stopped or killed",
     "The run ends with the same bits as one that was never stopped.\n"
     "A finished run is left alone, unless --steps asks for more steps of its last "
     "phase.\n\n" RUN_OPTIONS "\nExamples:\n"
     "  talus resume runs/hopper\n"
     "  talus resume runs/hopper --steps 20000\n",
     command_resume},
    {"check", "check SCENE [--set key.path=value]...", "look for all mistakes in a scene",
     "Reads the scene and builds its world, writes nothing. Exit status 3 if there are errors.\n\n"
     "  --set key.path=value   override a value of the scene; may be repeated\n\n"
     "Examples:\n"
     "  talus check my-scene.yaml\n"
     "  talus check hopper --set method=soft\n",
     command_check},
    {"advise", "advise SCENE [--seconds S] [--set key.path=value]... [options]",
     "tell which method is cheaper for a scene",
     "Estimates the cost of method: contact and of method: soft (Brendel, Unger and Wolf, 1.37),\n"
     "tries both from the beginning of the scene for a short time, and says which to use and why.\n"
     "Writes nothing.\n\n"
     "  --seconds S            processor time a thread for each trial [1]\n"
     "  --threads N            threads to use [as the scene says]\n"
     "  --set key.path=value   override a value of the scene; may be repeated\n"
     "  --json                 print one JSON object on standard output\n\n"
     "Examples:\n"
     "  talus advise hopper\n"
     "  talus advise my-scene.yaml --seconds 10\n",
     command_advise},
    {"scenes", "scenes [--names]", "list the ready-made scenes",
     "They are looked for in $TALUS_SCENES, then where Talus is installed, then in its source "
     "tree.\n\n"
     "  --names                print their names only\n\n"
     "Examples:\n"
     "  talus scenes\n",
     command_scenes},
    {"export", "export DIR [--vtk OUT] [--lammps OUT] [--vtkhdf OUT] [--gsd OUT] [--force]",
     "write the frames of a run for other programs",
     "  --vtk OUT              VTK XML into the directory OUT: open OUT/grains.pvd in ParaView\n"
     "  --lammps OUT           LAMMPS dump into the file OUT, for OVITO\n"
     "  --vtkhdf OUT           one VTKHDF file with all frames, for ParaView 5.13 and later\n"
     "  --gsd OUT              one GSD file (schema hoomd) with the shapes of grains, for OVITO\n"
     "  --force                replace files that are there\n\n"
     "Without options the first two are written into DIR/export. A run that is not finished is\n"
     "exported as far as it shows its frames, up to about the last second. See "
     "docs/exchange.md.\n\n"
     "Examples:\n"
     "  talus export runs/hopper\n"
     "  talus export runs/hopper --gsd hopper.gsd --vtkhdf hopper.vtkhdf\n",
     command_export},
    {"measure", "measure DIR [QUANTITY...] [--frame N|A:B|last|all] [options]",
     "measure stress, fabric, forces, energies, ... of recorded frames",
     "Prints the numbers of one frame, or mean, spread and extremes over several. Without a "
     "QUANTITY\n"
     "those of the first two lines are measured; one that is named is printed with its tables:\n\n"
     "  stress fabric coordination forces mobility networks energy rheology budget\n"
     "  packing voronoi rdf\n"
     "  profile field slope flux\n\n"
     "  --frame F              a number from 0, A:B, A:B:STRIDE, last or all [last]\n"
     "  --time T               the frame nearest to this time\n"
     "  --region x=A:B,y=C:D   measure only in this box; an end may be left out\n"
     "  --volume V             volume (2D: area) of stresses [region, cell or box around grains]\n"
     "  --flow mean|linear     what velocities fluctuate about [mean]\n"
     "  --bins N               of histograms [24]\n"
     "  --cut X                strong forces exceed X times the mean [1]\n"
     "  --axis x|y|z           profile: slices across this axis [the last]\n"
     "  --radial               profile: shells about that axis instead\n"
     "  --ends LOW:HIGH        profile: from here to there [all of the space]\n"
     "  --slope heap|plane     slope: of two flanks or a cone, or of one flat surface [heap]\n"
     "  --column W             slope: width of a column [2 mean diameters]\n"
     "  --touching             slope: leave out grains without a contact force\n"
     "  --gate y=0.1           flux: the plane; along the last axis downwards is positive\n"
     "  --inner-cells          voronoi: leave out cells that walls or the box's sides cut\n"
     "  --range R              rdf: largest distance [5 mean diameters]\n"
     "  --edge shell|inner     rdf: count the part of each shell that is in the space, or only\n"
     "                         grains farther than the range from its sides [shell]\n"
     "  --kernel gauss|lucy|heaviside   field: [gauss]\n"
     "  --width W              field: of the kernel [mean diameter, of others than gauss twice]\n"
     "  --cells NX,NY,NZ       field: points along each axis [half a width apart, in 3D a width]\n"
     "  --no-walls             leave contacts with walls, fixed and glued grains out of fabric,\n"
     "                         forces and networks\n"
     "  --csv FILE             a row for each frame into FILE, tables into FILE-TABLE.csv\n"
     "  --force                replace such files\n"
     "  --json                 print one JSON object on standard output\n\n"
     "Definitions: docs/measure.md.\n\n"
     "Examples:\n"
     "  talus measure runs/biaxial\n"
     "  talus measure runs/biaxial stress fabric --frame 10:20 --csv stress.csv\n"
     "  talus measure runs/silo rheology --region x=0.1:0.2,y=:0.5 --frame all --json\n",
     command_measure},
    {"render", "render DIR [--frame N|A:B|last] [--movie] [--colour FIELD] [options]",
     "draw frames of a run as pictures or as a movie",
     "Without options the last frame is drawn into DIR/pictures/frame-NNNNNN.png.\n\n"
     "  --frame N|A:B|A:B:S|last|all   frames, counted from 0; S: only every S-th [last]\n"
     "  --time T               the frame nearest to this time\n"
     "  --movie[=FILE.mp4]     a movie of the frames [all] with ffmpeg; scale and extent are "
     "fixed\n"
     "  --fps N                its frames a second [25]\n"
     "  -o, --output FILE      where it goes; of several frames a directory [DIR/pictures]\n"
     "  --format png|svg|pdf   [by the ending of FILE, else png]\n"
     "  --colour FIELD[:x|:y|:z]   colour grains by a field; --fields lists them [all alike]\n"
     "  --fields               list the fields of the run and draw nothing\n"
     "  --scale LOW:HIGH       ends of the scale of colours [those of the frames drawn]\n"
     "  --map MAP              viridis, plasma, inferno, cividis, coolwarm, turbo or grey\n"
     "  --forces               forces as bars from centre to centre, as wide as they are large\n"
     "  --force-scale F        force of the widest bar, N [the largest of the frames drawn]\n"
     "  --force-width W        width of that bar, mean diameters [0.4]\n"
     "  --view x|y|z|iso|A:E   3D: look along an axis, or from azimuth A and elevation E [iso]\n"
     "  --region x=A:B,y=C:D   only this part; in 3D also a slice\n"
     "  --axes                 coordinates around the picture instead of a scale bar\n"
     "  --no-bar, --no-time, --no-walls   leave these out\n"
     "  --title TEXT           above the picture\n"
     "  --width W              pixels, of SVG and PDF points [1200, 432]\n"
     "  --dpi D                dots an inch: with more, letters take more pixels [200]\n"
     "  --force                replace files that are there\n"
     "  --quiet                say nothing but errors\n\n"
     "Examples:\n"
     "  talus render runs/hopper --colour speed\n"
     "  talus render runs/biaxial --frame 20 --forces -o chains.pdf\n"
     "  talus render runs/drum --movie --colour velocity:x --scale=-0.5:0.5\n",
     command_render},
    {"plot", "plot DIR [WHAT...|all] [--frame N|A:B|last] [-o FILE] [options]",
     "make the standard figures of a run, and their CSV",
     "Without WHAT it lists what can be plotted. `series COLUMN...` plots columns of series.csv.\n"
     "Written are DIR/plots/WHAT.png and WHAT.csv.\n\n"
     "  --frame N|A:B|A:B:S|last|all   frames; distributions are means over them [over time: all,\n"
     "                         distributions: last]\n"
     "  --time T               the frame nearest to this time\n"
     "  --region x=A:B,y=C:D   measure only there\n"
     "  --bins N               of histograms [24]\n"
     "  --axis x|y|z           of profiles and of flow [profile: the last one, flow: downwards]\n"
     "  --at PLACE             of the plane of flow on that axis [middle of the grains' space]\n"
     "  --slope heap|plane     what kind of surface repose and slope fit [heap]\n"
     "  -o, --output FILE      where it goes, with FILE's name .csv; of several plots a directory\n"
     "  --format png|svg|pdf   [by the ending of FILE, else png]\n"
     "  --csv                  only the CSV\n"
     "  --width W              pixels, of SVG and PDF points [by the plot]\n"
     "  --dpi D                dots an inch of PNG [200]\n"
     "  --force                replace files that are there\n"
     "  --quiet                say nothing but errors\n\n"
     "Examples:\n"
     "  talus plot runs/biaxial stress fabric --format pdf\n"
     "  talus plot runs/biaxial forces --frame 10:last -o forces.svg\n"
     "  talus plot runs/silo series kinetic_energy coordination\n",
     command_plot},
    {"import", "import FILE -o SCENE.yaml [options]",
     "make a scene of a file of LAMMPS or LMGC90, or of a CSV file",
     "FILE is a LAMMPS dump or data file, a CSV file with named columns, or LMGC90's BODIES.DAT "
     "or\n"
     "its folder, with DOF.INI and the others beside it. Written are the scene and, beside it, a\n"
     "CSV file of its grains; files that exist are not overwritten.\n\n"
     "  -o, --output SCENE     the scene to write\n"
     "  --format FORMAT        lammps-dump, lammps-data, lmgc90 or csv [by name and first lines]\n"
     "  --frame N              of a dump, counted from 0; negative from the end [-1: the last]\n"
     "  --dimension D          2 or 3 [2 if all grains lie in one plane]\n"
     "  --radius R             of grains whose file gives none\n"
     "  --periodic AXIS        x, y or z, or with its cell as x=0:1; may be repeated\n"
     "  --dof FILE             LMGC90: instead of DOF.INI, such as OUTBOX/DOF.LAST\n\n"
     "What was assumed or not carried over is told, and stands at the top of the scene. See\n"
     "docs/exchange.md.\n\n"
     "Examples:\n"
     "  talus import packing.dump -o packing.yaml --frame -1\n"
     "  talus import DATBOX -o wall.yaml && talus run wall.yaml\n",
     command_import},
    {"ensemble", "ensemble SCENE|DIR [options]",
     "solve a packing's forces many times and compare the solutions",
     "DIR is the directory of a run: its last checkpoint is taken. A SCENE is run to its end "
     "first,\n"
     "into runs/NAME. The contact problem of the next step is then solved again and again from\n"
     "different starts (zero, the last forces, random ones) and with different random sweeps.\n\n"
     "  --samples N            solutions [30]\n"
     "  --seed S               of sweeps and starts [1]\n"
     "  --tolerance X          residual that every solution must reach [1e-6]\n"
     "  --sweeps N             at most so many for one solution [200000]\n"
     "  --volume V             volume (2D: area) of the stress [cell or box around the grains]\n"
     "  --set key.path=value   override a value of the SCENE; may be repeated\n"
     "  -o, --output OUT       directory for the tables [DIR/ensemble]\n"
     "  --quiet                no progress and no report, only errors\n"
     "  --json                 print ensemble.json on standard output at the end\n\n"
     "Written are ensemble.json, contacts.csv (mean and spread of every force), samples.csv\n"
     "(stress of every solution) and histogram.csv. Exit status 4 if no two solutions reach the\n"
     "tolerance.\n\n"
     "Examples:\n"
     "  talus ensemble runs/heap --samples 100\n"
     "  talus ensemble column-collapse --set grains.column.count=400\n",
     command_ensemble},
    {"solve", "solve FILE.hdf5 [--solver S] [--tolerance T] [--write] [options]",
     "solve a contact problem in the layout of FCLIB",
     "FILE.hdf5 holds a local, global or rolling problem as the FCLIB collection stores them\n"
     "(docs/fclib.md), in 2D or 3D.\n\n"
     "  --solver S             auto, or one of the methods that auto chooses from [auto]\n"
     "  --tolerance T          on FCLIB's error and on the residual without units [1e-8]\n"
     "  --sweeps N             at most so many sweeps of the first method [100000]\n"
     "  --limit SECONDS        give up after so long; 0: never [0]\n"
     "  --repeat N             solve N times and tell the median of the times [1]\n"
     "  --write                store solution/{r,u} (global: v too) in the file, if it is solved\n"
     "  --json                 print one JSON object on standard output\n\n"
     "Exit status 0 only if it is solved to the tolerance, 4 if not.\n\n"
     "Examples:\n"
     "  talus solve runs/hopper/problems/step-000120.hdf5\n"
     "  talus solve problem.hdf5 --tolerance 1e-10 --write\n",
     command_solve},
    {"paper", "paper [NAME...|all] [-o DIR] [--short] [options]",
     "carry out published experiments and compare the numbers",
     "Without a NAME the experiments are listed. Each prints a table of what was measured against\n"
     "what was published or predicted, and writes NAME.csv, NAME.png, NAME.svg (some more of "
     "each),\n"
     "NAME-table.csv, and index.html with everything. Exit status 4 if a number disagrees.\n\n"
     "  -o, --output DIR       a folder that is empty or does not exist [runs/paper-NAME, ...]\n"
     "  --short                the versions of the test suite: some seconds each\n"
     "  --threads N            threads to simulate with; only times depend on it [1]\n"
     "  --seed S               of all random numbers [1]\n"
     "  --quiet                no progress and no tables, only errors\n\n"
     "Examples:\n"
     "  talus paper\n"
     "  talus paper chain --short -o chain-results\n",
     command_paper},
    {"view", "view DIR [--port N] [--open|--no-open] [--export FILE] [options]",
     "look at a run in the browser, also while it goes on",
     "Serves a page for this machine alone (127.0.0.1), prints its address and, if there is a\n"
     "display, opens it. Ctrl-C ends it.\n\n"
     "  --port N               port to listen on [0: a free one]\n"
     "  --open                 open a browser [if standard output is a terminal]\n"
     "  --no-open              open none\n"
     "  --export FILE          write the page with all frames into one FILE instead, which opens\n"
     "                         from disk without a server and without a network\n"
     "  --frame F              of these only a number from 0, A:B, A:B:STRIDE or last [all]\n"
     "  --every N              only every Nth of them [1]\n"
     "  --force                replace FILE if it exists\n\n"
     "Examples:\n"
     "  talus view runs/heap-2d\n"
     "  talus view runs/heap-2d --export heap.html --every 5\n",
     command_view},
    {"new", "new NAME|--list [--3d] [-t TEMPLATE]", "write a commented starter scene, NAME.yaml",
     "A file that exists is left as it is.\n\n"
     "  --3d                   of dimension 3 [2]\n"
     "  -t, --template TEMPLATE  what it shows: box, hopper, shear or soft [box]\n"
     "  --list                 explain the templates and write nothing\n\n"
     "Examples:\n"
     "  talus new first\n"
     "  talus new silos/one --3d --template hopper\n",
     command_new},
    {"schema", "schema [-o FILE] [--force] [--markdown SECTION]",
     "print the JSON Schema of scenes, for editors",
     "With it an editor completes and checks scenes while they are written. A scene names it in "
     "its\n"
     "first line: # yaml-language-server: $schema=talus-scene.json\n\n"
     "  -o, --output FILE      write it into FILE, which must not exist\n"
     "  --force                replace FILE\n"
     "  --markdown SECTION     print the keys of a section instead, such as 'walls[]', as a "
     "table\n\n"
     "Examples:\n"
     "  talus schema -o talus-scene.json\n"
     "  talus schema --markdown 'walls[].motion'\n",
     command_schema},
    {"completion", "completion bash|zsh|fish", "print a script with which a shell completes talus",
     "It completes commands, options, their values, ready-made scenes and the keys of --set.\n\n"
     "Examples:\n"
     "  source <(talus completion bash)\n"
     "  talus completion fish > ~/.config/fish/completions/talus.fish\n",
     command_completion},
    {"help", "help [COMMAND] [--man]", "explain a command",
     "  --man                  print the man page, talus(1), as roff\n\n"
     "Examples:\n"
     "  talus help run\n"
     "  talus help --man | man -l -\n",
     command_help},
    {"version", "version", "print version, revision and compiler",
     "Examples:\n"
     "  talus version\n",
     command_version},
};

const command* command_list(int* count)
{
    *count = sizeof commands / sizeof *commands;
    return commands;
}

const command* command_find(const char* name)
{
    const char* names[sizeof commands / sizeof *commands];
    int count;
    const command* list = command_list(&count);
    for (int i = 0; i < count; i++) {
        if (strcmp(name, list[i].name) == 0) return &list[i];
        names[i] = list[i].name;
    }
    const char* near = nearest_name(name, names, count);
    fprintf(stderr, "talus: there is no command '%s'%s%s%s `talus help` lists them\n", name,
            near ? "; did you mean '" : ";", near ? near : "", near ? "'?" : "");
    return NULL;
}

/// The exit status once all that was printed is written: on a full disk it is not, and says so.
static int end(int status)
{
    errno = 0;
    const bool whole = fflush(stdout) == 0 && !ferror(stdout);
    if (whole) return status;
    fprintf(stderr, "talus: cannot write all of the output%s%s\n", errno ? ": " : "",
            errno ? strerror(errno) : "");
    return status == STATUS_OK ? STATUS_FAILURE : status;
}

int main(int argc, char** argv)
{
    setlocale(LC_CTYPE, ""); // only to know whether the terminal takes UTF-8; numbers stay in C
    if (argc < 2) {
        command_help(0, NULL);
        return end(STATUS_USAGE);
    }
    const char* name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) name = "version";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
    const command* c = command_find(name);
    return end(c ? c->function(argc - 1, argv + 1) : STATUS_USAGE);
}
