/** The folder of `initdb` and `postgres`, of the newest version there is; `undefined` where there is none. */
export function postgresFolder(): string | undefined;
