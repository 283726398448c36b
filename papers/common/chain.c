/// The one-dimensional chain: made with the public API, and its theory.
#include "chain.h"

#include <math.h>

// ---- the chain ---------------------------------------------------------------------------------

talus_solver_def chain_sweeps(int sweeps, talus_sweep_order order)
{
    talus_solver_def solver = paper_solver_default();
    solver.method = TALUS_SOLVER_SWEEPS;
    solver.order = order;
    solver.stop = TALUS_STOP_SWEEPS;
    solver.max_sweeps = sweeps;
    return solver;
}

chain_def chain_default(void)
{
    return (chain_def){.disks = 50,
                       .diameter = 1.0,
                       .mass = 1.0,
                       .seed = 1,
                       .solver = chain_sweeps(40, TALUS_ORDER_RANDOM),
                       .method = TALUS_METHOD_CONTACT};
}

talus_status chain_make(paper* p, const chain_def* def, talus_world** out)
{
    talus_world_def options = paper_world_default();
    options.dim = 2;
    options.seed = def->seed;
    options.threads = p->threads;
    options.method = def->method;
    options.solver = def->solver;
    TRY(paper_world(p, &options, out));
    talus_world* world = *out;
    // A disk that leans on a wall is half of a pair of disks, one the other's mirror image: twice
    // as stiff, and with the same part of critical damping gamma/sqrt(2 kappa m).
    talus_pair_def pair = talus_pair_default();
    talus_material_id disks, walls;
    if (def->method == TALUS_METHOD_SOFT) {
        pair.soft.stiffness = def->stiffness;
        pair.soft.damping = def->damping / sqrt(2.0 * def->stiffness * def->mass);
    }
    TRY(talus_world_add_material(world, "disk", &pair, &disks, &p->error));
    TRY(talus_world_add_material(world, "wall", &pair, &walls, &p->error));
    pair.soft.stiffness *= 2.0;
    TRY(talus_world_set_pair(world, disks, walls, &pair, &p->error));
    talus_wall_def wall = talus_wall_default();
    wall.name = "wall";
    wall.shape.kind = TALUS_SHAPE_PLANE;
    wall.shape.normal[0] = 1.0;
    wall.material = walls;
    TRY(talus_world_add_wall(world, &wall, NULL, &p->error));
    talus_grain_def disk = talus_grain_default();
    disk.radius = 0.5 * def->diameter;
    disk.mass = def->mass;
    const double spacing = def->diameter - def->overlap;
    const double first = disk.radius + (def->gap > 0.0 ? def->gap : -0.5 * def->overlap);
    for (int64_t i = 0; i < def->disks; i++) {
        disk.position[0] = first + (double)i * spacing;
        disk.external_force[0] = i == def->disks - 1 ? -def->force : 0.0;
        TRY(talus_world_add_grain(world, &disk, NULL, &p->error));
    }
    return TALUS_OK;
}

/// Stop all disks.
static void stop(talus_world* world)
{
    const int64_t disks = talus_world_grains(world).count;
    for (int64_t i = 0; i < disks; i++) chain_push(world, i, 0.0);
}

talus_status chain_press(paper* p, talus_world* world, double h)
{
    const talus_solver_def own = talus_world_options(world)->solver;
    talus_solver_def exact = paper_solver_default();
    exact.tolerance = 1e-12;
    exact.max_sweeps = 100000;
    stop(world);
    TRY(talus_world_set_solver(world, &exact, &p->error));
    TRY(talus_world_step(world, h, NULL, &p->error));
    stop(world);
    return talus_world_set_solver(world, &own, &p->error);
}

void chain_forces(const talus_world* world, double* forces)
{
    const talus_contacts contacts = talus_world_contacts(world);
    const int64_t disks = talus_world_grains(world).count;
    for (int64_t i = 0; i < disks; i++) forces[i] = 0.0;
    for (int64_t c = 0; c < contacts.count; c++) {
        const int64_t a = contacts.a[c], b = contacts.b[c];
        forces[a > b ? a : b] = fabs(contacts.force[c * contacts.dim]);
    }
}

double chain_position(const talus_world* world, int64_t disk)
{
    const talus_grains grains = talus_world_grains(world);
    return grains.position[disk * grains.dim];
}

void chain_push(talus_world* world, int64_t disk, double velocity)
{
    talus_editable_grains grains;
    if (talus_world_edit_grains(world, &grains, NULL) < 0) return;
    grains.velocity[disk * grains.dim] = velocity;
}

// ---- modes -------------------------------------------------------------------------------------

double chain_wave_number(int64_t disks, int64_t mode)
{
    return ((double)mode + 0.5) * M_PI / (double)disks;
}

double chain_mode_velocity(double kd, int64_t disk)
{
    return sin(kd * ((double)disk + 0.5));
}

double chain_mode_amplitude(const talus_world* world, double kd)
{
    const talus_grains grains = talus_world_grains(world);
    double sum = 0.0;
    for (int64_t i = 0; i < grains.count; i++) {
        sum += grains.velocity[i * grains.dim] * chain_mode_velocity(kd, i);
    }
    return 2.0 * sum / (double)grains.count;
}

// ---- theory ------------------------------------------------------------------------------------

double chain_q_random(void)
{
    return 0.5 * (4.0 * sqrt(M_E) - 5.0);
}

double chain_q_parallel(void)
{
    return 0.5;
}

double chain_sweep_factor(double kd, int64_t disks)
{
    double weight = 1.0, sum = 1.0; // weight: 1/(2^r (r + 1)!)
    for (int r = 1; r < 30; r++) {
        weight /= 2.0 * (r + 1);
        const double ends = disks > 0 ? (r - 1) / (double)disks : 0.0;
        sum += 2.0 * weight * (1.0 - ends) * cos(kd * r);
    }
    return 1.0 - (1.0 - cos(kd)) * sum;
}

double chain_number_of_factor(double sweep_factor, int64_t disks)
{
    double low = 0.0, high = M_PI;
    while (high - low > 1e-9) {
        const double kd = 0.5 * (low + high);
        *(chain_sweep_factor(kd, disks) > sweep_factor ? &low : &high) = kd;
    }
    return low;
}

chain_wave chain_wave_continuous(double q, int sweeps, double kd)
{
    const double spread = q * sweeps * kd * kd; // D k^2 h = c^2 k^2 h^2
    return (chain_wave){.omega = sqrt(fmax(0.0, spread - 0.25 * spread * spread)),
                        .tau = 2.0 / spread};
}

chain_wave chain_wave_stepwise(double sweep_factor, int sweeps)
{
    const double tau = -2.0 / (sweeps * log(sweep_factor));
    return (chain_wave){.omega = acos(exp(-1.0 / tau)), .tau = tau};
}

double chain_end_strain(int sweeps, double y)
{
    const double spread = chain_q_random() * sweeps; // z = 36 at the top
    const double top = 6.0 / sqrt(spread), step = top / 2000.0;
    double sum = 0.5 * y; // trapezoidal rule, from the limit at k = 0 on
    for (double k = step; k < top; k += step) {
        const double z = spread * k * k;
        sum += z / expm1(z) * sin(k * y) / k;
    }
    return 2.0 / M_PI * sum * step;
}

double chain_loaded_end(int sweeps)
{
    const double zeta_of_half = -1.4603545088095868;
    return -zeta_of_half / sqrt(M_PI) * sqrt(chain_q_random() * sweeps);
}
