/// Sine, logarithm and the like with the same bits on every machine.
///
/// The C library's differ in the last place from one version to another, between processors with
/// and without fused operations, and where a compiler works out a call itself or puts another in
/// its place (clang makes exp10 of pow(10, x)). IEEE 754 leaves that open; only + - * / and the
/// square root are exact. So what worlds and scenes depend on is made of these here. Errors are
/// below one unit in the last place, of portable_pow below 0.51 of one, of lengths below 1.2, and
/// of the tangent, the inverse functions and the decimal logarithm below 2.5. A NaN gives a NaN.
#ifndef TALUS_BASE_PORTABLE_H
#define TALUS_BASE_PORTABLE_H

/// Beyond 2e8, where doubles are 3e-8 apart, the angle is reduced as if 2 pi were a double: the
/// result is that of an angle within the last place of x.
double portable_sin(double x);
double portable_cos(double x);
double portable_tan(double x);
double portable_atan2(double y, double x);
double portable_asin(double x);
double portable_acos(double x);
double portable_exp(double x);
double portable_log(double x);
double portable_log10(double x);
/// x^y for x >= 0, or for a whole y.
double portable_pow(double x, double y);
double portable_cbrt(double x);
/// sqrt(x^2 + y^2); the squares may be too large or too small for a double.
double portable_hypot(double x, double y);
/// 10^n, rounded correctly for |n| <= 22.
double portable_power_of_ten(int n);

#endif
