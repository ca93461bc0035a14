/**
 * The part of Standard Schema version 1 (standardschema.dev) that typed services use, declared here so that no schema library is a dependency.
 * Implemented by zod 4, valibot, arktype and others.
 */

/** A schema that converts an `Input` to an `Output`. The two differ if it fills in defaults or transforms. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    /** Only for the type checker; absent at run time. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** The result of `validate`: the output, or why there is none. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** One problem found by a schema. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The input type of a schema; `never` without one. */
export type SchemaInput<Schema> = Schema extends StandardSchema
  ? NonNullable<Schema['~standard']['types']>['input']
  : never;

/** The output type of a schema; `never` without one. */
export type SchemaOutput<Schema> = Schema extends StandardSchema
  ? NonNullable<Schema['~standard']['types']>['output']
  : never;
