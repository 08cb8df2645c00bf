"""Rules of the distributions of `scipy.stats`.

``y = stats.norm.logpdf(x, m, s)``  →  ``m_bar = y_bar * (x - m) / (s * s)``

Everywhere z = (x - loc) / scale, and the score is the derivative of the logarithm of
the density in z.  Counts, such as `k` and `n` of the binomial distribution, are held
constant.  The densities are those of Johnson, Kotz and Balakrishnan, "Continuous
Univariate Distributions" (1994).
"""

from __future__ import annotations

import numpy as np
from scipy import special, stats

from sct import helpers, runtime_stats
from sct.runtime_special import betainc_in_a, gammainc_in_a
from sct.runtime_stats import (
    dirichlet_adjoint_alpha,
    dirichlet_adjoint_x,
    dirichlet_tangent_alpha,
    dirichlet_tangent_x,
    normal_adjoint_cov,
    normal_adjoint_mean,
    normal_adjoint_x,
    normal_tangent_cov,
    normal_tangent_mean,
    normal_tangent_x,
    t_cdf_in_df,
)

from .registry import adjoint, elementwise, tangent

helpers.add(
    runtime_stats,
    (normal_adjoint_x, normal_adjoint_mean, normal_adjoint_cov, t_cdf_in_df),
)


# The normal distribution.


@elementwise(stats.norm.logpdf, wrt=("x", "loc", "scale"), real=True)
def norm_logpdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    score = -z
    in_x = score / scale
    return in_x, -in_x, -(1.0 + z * score) / scale


@elementwise(stats.norm.pdf, wrt=("x", "loc", "scale"), real=True)
def norm_pdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    score = -z
    in_x = out * score / scale
    return in_x, -in_x, -out * (1.0 + z * score) / scale


@elementwise(stats.norm.cdf, wrt=("x", "loc", "scale"), real=True)
def norm_cdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    density = stats.norm.pdf(x, loc=loc, scale=scale)
    return density, -density, -z * density


@elementwise(stats.norm.sf, wrt=("x", "loc", "scale"), real=True)
def norm_sf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    density = stats.norm.pdf(x, loc=loc, scale=scale)
    return -density, density, z * density


@elementwise(stats.norm.logcdf, wrt=("x", "loc", "scale"), real=True)
def norm_logcdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    density = np.exp(stats.norm.logpdf(x, loc=loc, scale=scale) - out)
    return density, -density, -z * density


@elementwise(stats.norm.logsf, wrt=("x", "loc", "scale"), real=True)
def norm_logsf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    density = np.exp(stats.norm.logpdf(x, loc=loc, scale=scale) - out)
    return -density, density, z * density


@elementwise(stats.norm.ppf, wrt=("q", "loc", "scale"), real=True)
def norm_ppf(out, q, loc=0.0, scale=1.0):
    density = stats.norm.pdf(out, loc=loc, scale=scale)
    return 1.0 / density, 1.0, (out - loc) / scale


@elementwise(stats.norm.isf, wrt=("q", "loc", "scale"), real=True)
def norm_isf(out, q, loc=0.0, scale=1.0):
    density = stats.norm.pdf(out, loc=loc, scale=scale)
    return -1.0 / density, 1.0, (out - loc) / scale


# Student's t distribution.


@elementwise(stats.t.logpdf, wrt=("x", "df", "loc", "scale"), real=True)
def t_logpdf(out, x, df, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    score = -(df + 1.0) * z / (df + z * z)
    rise = special.digamma(0.5 * df + 0.5) - special.digamma(0.5 * df)
    in_x = score / scale
    in_df = 0.5 * (rise - np.log1p(z * z / df) - score * z / df - 1.0 / df)
    return in_x, in_df, -in_x, -(1.0 + z * score) / scale


@elementwise(stats.t.pdf, wrt=("x", "df", "loc", "scale"), real=True)
def t_pdf(out, x, df, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    score = -(df + 1.0) * z / (df + z * z)
    rise = special.digamma(0.5 * df + 0.5) - special.digamma(0.5 * df)
    in_x = out * score / scale
    in_df = out * (0.5 * (rise - np.log1p(z * z / df) - score * z / df - 1.0 / df))
    return in_x, in_df, -in_x, -out * (1.0 + z * score) / scale


@elementwise(stats.t.cdf, wrt=("x", "df", "loc", "scale"), real=True)
def t_cdf(out, x, df, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    density = stats.t.pdf(x, df, loc=loc, scale=scale)
    in_df = t_cdf_in_df(z, df)
    return density, in_df, -density, -z * density


@elementwise(stats.t.sf, wrt=("x", "df", "loc", "scale"), real=True)
def t_sf(out, x, df, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    density = stats.t.pdf(x, df, loc=loc, scale=scale)
    in_df = -t_cdf_in_df(z, df)
    return -density, in_df, density, z * density


@elementwise(stats.t.logcdf, wrt=("x", "df", "loc", "scale"), real=True)
def t_logcdf(out, x, df, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    density = np.exp(stats.t.logpdf(x, df, loc=loc, scale=scale) - out)
    in_df = t_cdf_in_df(z, df) / np.exp(out)
    return density, in_df, -density, -z * density


@elementwise(stats.t.logsf, wrt=("x", "df", "loc", "scale"), real=True)
def t_logsf(out, x, df, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    density = np.exp(stats.t.logpdf(x, df, loc=loc, scale=scale) - out)
    in_df = -t_cdf_in_df(z, df) / np.exp(out)
    return -density, in_df, density, z * density


# The gamma distribution.


@elementwise(stats.gamma.logpdf, wrt=("x", "a", "loc", "scale"), real=True)
def gamma_logpdf(out, x, a, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    score = (a - 1.0) / z - 1.0
    in_x = score / scale
    in_a = np.log(z) - special.digamma(a)
    return in_x, in_a, -in_x, -(1.0 + z * score) / scale


@elementwise(stats.gamma.pdf, wrt=("x", "a", "loc", "scale"), real=True)
def gamma_pdf(out, x, a, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    score = (a - 1.0) / z - 1.0
    in_x = out * score / scale
    in_a = out * (np.log(z) - special.digamma(a))
    return in_x, in_a, -in_x, -out * (1.0 + z * score) / scale


@elementwise(stats.gamma.cdf, wrt=("x", "a", "loc", "scale"), real=True)
def gamma_cdf(out, x, a, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    density = stats.gamma.pdf(x, a, loc=loc, scale=scale)
    in_a = gammainc_in_a(a, z)
    return density, in_a, -density, -z * density


@elementwise(stats.gamma.sf, wrt=("x", "a", "loc", "scale"), real=True)
def gamma_sf(out, x, a, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    density = stats.gamma.pdf(x, a, loc=loc, scale=scale)
    in_a = -gammainc_in_a(a, z)
    return -density, in_a, density, z * density


# The chi-squared distribution.


@elementwise(stats.chi2.logpdf, wrt=("x", "df", "loc", "scale"), real=True)
def chi2_logpdf(out, x, df, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    score = (0.5 * df - 1.0) / z - 0.5
    in_x = score / scale
    in_df = 0.5 * (np.log(0.5 * z) - special.digamma(0.5 * df))
    return in_x, in_df, -in_x, -(1.0 + z * score) / scale


@elementwise(stats.chi2.pdf, wrt=("x", "df", "loc", "scale"), real=True)
def chi2_pdf(out, x, df, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    score = (0.5 * df - 1.0) / z - 0.5
    in_x = out * score / scale
    in_df = out * (0.5 * (np.log(0.5 * z) - special.digamma(0.5 * df)))
    return in_x, in_df, -in_x, -out * (1.0 + z * score) / scale


@elementwise(stats.chi2.cdf, wrt=("x", "df", "loc", "scale"), real=True)
def chi2_cdf(out, x, df, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    density = stats.chi2.pdf(x, df, loc=loc, scale=scale)
    in_df = 0.5 * gammainc_in_a(0.5 * df, 0.5 * z)
    return density, in_df, -density, -z * density


@elementwise(stats.chi2.sf, wrt=("x", "df", "loc", "scale"), real=True)
def chi2_sf(out, x, df, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    density = stats.chi2.pdf(x, df, loc=loc, scale=scale)
    in_df = -0.5 * gammainc_in_a(0.5 * df, 0.5 * z)
    return -density, in_df, density, z * density


# The beta distribution.


@elementwise(stats.beta.logpdf, wrt=("x", "a", "b", "loc", "scale"), real=True)
def beta_logpdf(out, x, a, b, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    score = (a - 1.0) / z - (b - 1.0) / (1.0 - z)
    in_x = score / scale
    in_a = np.log(z) - special.digamma(a) + special.digamma(a + b)
    in_b = np.log1p(-z) - special.digamma(b) + special.digamma(a + b)
    return in_x, in_a, in_b, -in_x, -(1.0 + z * score) / scale


@elementwise(stats.beta.pdf, wrt=("x", "a", "b", "loc", "scale"), real=True)
def beta_pdf(out, x, a, b, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    score = (a - 1.0) / z - (b - 1.0) / (1.0 - z)
    in_x = out * score / scale
    in_a = out * (np.log(z) - special.digamma(a) + special.digamma(a + b))
    in_b = out * (np.log1p(-z) - special.digamma(b) + special.digamma(a + b))
    return in_x, in_a, in_b, -in_x, -out * (1.0 + z * score) / scale


@elementwise(stats.beta.cdf, wrt=("x", "a", "b", "loc", "scale"), real=True)
def beta_cdf(out, x, a, b, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    density = stats.beta.pdf(x, a, b, loc=loc, scale=scale)
    in_a = betainc_in_a(a, b, z)
    in_b = -betainc_in_a(b, a, 1.0 - z)
    return density, in_a, in_b, -density, -z * density


@elementwise(stats.beta.sf, wrt=("x", "a", "b", "loc", "scale"), real=True)
def beta_sf(out, x, a, b, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    density = stats.beta.pdf(x, a, b, loc=loc, scale=scale)
    in_a = -betainc_in_a(a, b, z)
    in_b = betainc_in_a(b, a, 1.0 - z)
    return -density, in_a, in_b, density, z * density


# The lognormal distribution.


@elementwise(stats.lognorm.logpdf, wrt=("x", "s", "loc", "scale"), real=True)
def lognorm_logpdf(out, x, s, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    score = -(1.0 + np.log(z) / (s * s)) / z
    in_x = score / scale
    in_s = (np.log(z) / s) ** 2 / s - 1.0 / s
    return in_x, in_s, -in_x, -(1.0 + z * score) / scale


@elementwise(stats.lognorm.pdf, wrt=("x", "s", "loc", "scale"), real=True)
def lognorm_pdf(out, x, s, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    score = -(1.0 + np.log(z) / (s * s)) / z
    in_x = out * score / scale
    in_s = out * ((np.log(z) / s) ** 2 / s - 1.0 / s)
    return in_x, in_s, -in_x, -out * (1.0 + z * score) / scale


@elementwise(stats.lognorm.cdf, wrt=("x", "s", "loc", "scale"), real=True)
def lognorm_cdf(out, x, s, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    density = stats.lognorm.pdf(x, s, loc=loc, scale=scale)
    in_s = -z * np.log(z) / s * stats.lognorm.pdf(z, s)
    return density, in_s, -density, -z * density


@elementwise(stats.lognorm.sf, wrt=("x", "s", "loc", "scale"), real=True)
def lognorm_sf(out, x, s, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    density = stats.lognorm.pdf(x, s, loc=loc, scale=scale)
    in_s = z * np.log(z) / s * stats.lognorm.pdf(z, s)
    return -density, in_s, density, z * density


# The exponential distribution.


@elementwise(stats.expon.logpdf, wrt=("x", "loc", "scale"), real=True)
def expon_logpdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    score = -1.0
    in_x = score / scale
    return in_x, -in_x, -(1.0 + z * score) / scale


@elementwise(stats.expon.pdf, wrt=("x", "loc", "scale"), real=True)
def expon_pdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    score = -1.0
    in_x = out * score / scale
    return in_x, -in_x, -out * (1.0 + z * score) / scale


@elementwise(stats.expon.cdf, wrt=("x", "loc", "scale"), real=True)
def expon_cdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    density = stats.expon.pdf(x, loc=loc, scale=scale)
    return density, -density, -z * density


@elementwise(stats.expon.sf, wrt=("x", "loc", "scale"), real=True)
def expon_sf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    density = stats.expon.pdf(x, loc=loc, scale=scale)
    return -density, density, z * density


# The Laplace distribution; at its peak the score is 0.


@elementwise(stats.laplace.logpdf, wrt=("x", "loc", "scale"), real=True)
def laplace_logpdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    score = -np.sign(z)
    in_x = score / scale
    return in_x, -in_x, -(1.0 + z * score) / scale


@elementwise(stats.laplace.pdf, wrt=("x", "loc", "scale"), real=True)
def laplace_pdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    score = -np.sign(z)
    in_x = out * score / scale
    return in_x, -in_x, -out * (1.0 + z * score) / scale


@elementwise(stats.laplace.cdf, wrt=("x", "loc", "scale"), real=True)
def laplace_cdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    density = stats.laplace.pdf(x, loc=loc, scale=scale)
    return density, -density, -z * density


@elementwise(stats.laplace.sf, wrt=("x", "loc", "scale"), real=True)
def laplace_sf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    density = stats.laplace.pdf(x, loc=loc, scale=scale)
    return -density, density, z * density


# The logistic distribution.


@elementwise(stats.logistic.logpdf, wrt=("x", "loc", "scale"), real=True)
def logistic_logpdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    score = -np.tanh(0.5 * z)
    in_x = score / scale
    return in_x, -in_x, -(1.0 + z * score) / scale


@elementwise(stats.logistic.pdf, wrt=("x", "loc", "scale"), real=True)
def logistic_pdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    score = -np.tanh(0.5 * z)
    in_x = out * score / scale
    return in_x, -in_x, -out * (1.0 + z * score) / scale


@elementwise(stats.logistic.cdf, wrt=("x", "loc", "scale"), real=True)
def logistic_cdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    density = stats.logistic.pdf(x, loc=loc, scale=scale)
    return density, -density, -z * density


@elementwise(stats.logistic.sf, wrt=("x", "loc", "scale"), real=True)
def logistic_sf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    density = stats.logistic.pdf(x, loc=loc, scale=scale)
    return -density, density, z * density


# The Cauchy distribution.


@elementwise(stats.cauchy.logpdf, wrt=("x", "loc", "scale"), real=True)
def cauchy_logpdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    score = -2.0 * z / (1.0 + z * z)
    in_x = score / scale
    return in_x, -in_x, -(1.0 + z * score) / scale


@elementwise(stats.cauchy.pdf, wrt=("x", "loc", "scale"), real=True)
def cauchy_pdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    score = -2.0 * z / (1.0 + z * z)
    in_x = out * score / scale
    return in_x, -in_x, -out * (1.0 + z * score) / scale


@elementwise(stats.cauchy.cdf, wrt=("x", "loc", "scale"), real=True)
def cauchy_cdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    density = stats.cauchy.pdf(x, loc=loc, scale=scale)
    return density, -density, -z * density


@elementwise(stats.cauchy.sf, wrt=("x", "loc", "scale"), real=True)
def cauchy_sf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    density = stats.cauchy.pdf(x, loc=loc, scale=scale)
    return -density, density, z * density


# Counts.


@elementwise(stats.poisson.logpmf, wrt=("mu",), real=True)
def poisson_logpmf(out, k, mu, loc=0):
    return (k - loc) / mu - 1.0


@elementwise(stats.poisson.pmf, wrt=("mu",), real=True)
def poisson_pmf(out, k, mu, loc=0):
    return out * ((k - loc) / mu - 1.0)


# DLMF 8.4.10: the sum of the first terms of an exponential series.
@elementwise(stats.poisson.cdf, wrt=("mu",), real=True)
def poisson_cdf(out, k, mu, loc=0):
    return -stats.poisson.pmf(np.floor(k), mu, loc=loc)


@elementwise(stats.poisson.sf, wrt=("mu",), real=True)
def poisson_sf(out, k, mu, loc=0):
    return stats.poisson.pmf(np.floor(k), mu, loc=loc)


@elementwise(stats.binom.logpmf, wrt=("p",), real=True)
def binom_logpmf(out, k, n, p, loc=0):
    return (k - loc) / p - (n - k + loc) / (1.0 - p)


@elementwise(stats.binom.pmf, wrt=("p",), real=True)
def binom_pmf(out, k, n, p, loc=0):
    return out * ((k - loc) / p - (n - k + loc) / (1.0 - p))


@elementwise(stats.bernoulli.logpmf, wrt=("p",), real=True)
def bernoulli_logpmf(out, k, p, loc=0):
    return (k - loc) / p - (1 - k + loc) / (1.0 - p)


@elementwise(stats.bernoulli.pmf, wrt=("p",), real=True)
def bernoulli_pmf(out, k, p, loc=0):
    return out * ((k - loc) / p - (1 - k + loc) / (1.0 - p))


# Distributions of vectors.


@adjoint(
    stats.multivariate_normal.logpdf, wrt=("x", "mean", "cov"), fresh=True, real=True
)
def multivariate_normal_logpdf(out, x, mean=None, cov=1.0, *, out_bar):
    x_bar = normal_adjoint_x(out_bar, x, mean, cov)
    cov_bar = normal_adjoint_cov(out_bar, x, mean, cov)
    if mean is None:
        mean_bar = None
    else:
        mean_bar = normal_adjoint_mean(out_bar, x, mean, cov)
    return x_bar, mean_bar, cov_bar


@adjoint(stats.multivariate_normal.pdf, wrt=("x", "mean", "cov"), fresh=True, real=True)
def multivariate_normal_pdf(out, x, mean=None, cov=1.0, *, out_bar):
    log_bar = out * out_bar
    x_bar = normal_adjoint_x(log_bar, x, mean, cov)
    cov_bar = normal_adjoint_cov(log_bar, x, mean, cov)
    if mean is None:
        mean_bar = None
    else:
        mean_bar = normal_adjoint_mean(log_bar, x, mean, cov)
    return x_bar, mean_bar, cov_bar


@adjoint(stats.dirichlet.logpdf, fresh=True, real=True)
def dirichlet_logpdf(out, x, alpha, *, out_bar):
    x_bar = dirichlet_adjoint_x(out_bar, x, alpha)
    alpha_bar = dirichlet_adjoint_alpha(out_bar, x, alpha)
    return x_bar, alpha_bar


@adjoint(stats.dirichlet.pdf, fresh=True, real=True)
def dirichlet_pdf(out, x, alpha, *, out_bar):
    x_bar = dirichlet_adjoint_x(out * out_bar, x, alpha)
    alpha_bar = dirichlet_adjoint_alpha(out * out_bar, x, alpha)
    return x_bar, alpha_bar


@tangent(stats.multivariate_normal.logpdf)
def multivariate_normal_logpdf_tangent(
    out, x, mean=None, cov=1.0, *, x_dot, mean_dot, cov_dot
):
    from_x = normal_tangent_x(x_dot, out, x, mean, cov)
    from_mean = normal_tangent_mean(mean_dot, out, x, mean, cov)
    from_cov = normal_tangent_cov(cov_dot, out, x, mean, cov)
    return from_x, from_mean, from_cov


@tangent(stats.multivariate_normal.pdf)
def multivariate_normal_pdf_tangent(
    out, x, mean=None, cov=1.0, *, x_dot, mean_dot, cov_dot
):
    from_x = out * normal_tangent_x(x_dot, out, x, mean, cov)
    from_mean = out * normal_tangent_mean(mean_dot, out, x, mean, cov)
    from_cov = out * normal_tangent_cov(cov_dot, out, x, mean, cov)
    return from_x, from_mean, from_cov


@tangent(stats.dirichlet.logpdf)
def dirichlet_logpdf_tangent(out, x, alpha, *, x_dot, alpha_dot):
    from_x = dirichlet_tangent_x(x_dot, x, alpha)
    from_alpha = dirichlet_tangent_alpha(alpha_dot, x, alpha)
    return from_x, from_alpha


@tangent(stats.dirichlet.pdf)
def dirichlet_pdf_tangent(out, x, alpha, *, x_dot, alpha_dot):
    from_x = out * dirichlet_tangent_x(x_dot, x, alpha)
    from_alpha = out * dirichlet_tangent_alpha(alpha_dot, x, alpha)
    return from_x, from_alpha
