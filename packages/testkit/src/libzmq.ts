/** Whether tests may use libzmq. */

/** False if zeromq is not installed or PROJ_LIBZMQ=0: `vitest.shared.ts` sets the variable. */
export const HAS_LIBZMQ = process.env['PROJ_LIBZMQ'] !== '0';
