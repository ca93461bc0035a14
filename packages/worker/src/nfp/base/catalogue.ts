/** What `list_tasks` shows of a task: its name, description and arguments, as JSON Schema, in the shape of NORFAB. */
import type { StandardSchema } from '@proj/frames/service';
import type { NfpTask } from '../task.js';
import type { BaseTask, NfpTaskRow } from './tasks.js';

/** Which JSON Schema is asked for. */
const TARGET = 'draft-2020-12';

/** Of a schema library that has no JSON Schema. */
const ANYTHING = { type: 'object', properties: {}, additionalProperties: true };

const text = (description: string) => ({ type: 'string', description });
const texts = (description: string) => ({ type: 'array', items: { type: 'string' }, description });

/** What a worker says of a job that has ended. */
const RESULT = {
  type: 'object',
  properties: {
    result: { description: 'What the task has returned' },
    failed: { type: 'boolean', description: 'Whether it has failed' },
    errors: texts('Why it has failed'),
    task: text('Worker and task'),
    messages: texts('Messages to the client'),
    juuid: text('The job'),
    resources: texts('What it was about'),
    status: text('completed, failed or cancelled'),
    task_started: { type: ['string', 'null'], description: 'When it began' },
    task_completed: text('When it ended'),
    service: text('The service of the worker'),
    diff: { description: 'Nothing' },
    dry_run: { type: 'boolean', description: 'Always false' },
  },
};

/** The row of a task. */
export function taskRow(name: string, task: NfpTask | BaseTask): NfpTaskRow {
  const { description = '' } = task;
  if ('inputSchema' in task) {
    const { inputSchema, fastapi, mcp, agent } = task;
    return { name, description, inputSchema, outputSchema: RESULT, fastapi, mcp, agent };
  }
  const kwargs = jsonSchemaOf(task.kwargs);
  const inputSchema = kwargs === undefined ? ANYTHING : { type: 'object', properties: {}, ...kwargs };
  const args = jsonSchemaOf(task.args);
  const row = { name, description, inputSchema, outputSchema: RESULT };
  return { ...row, fastapi: {}, mcp: {}, agent: {}, ...(args === undefined ? {} : { args }) };
}

/** The Standard JSON Schema of it, which zod from 4.2 on and others have; absent where there is none, or JSON Schema cannot express it. */
function jsonSchemaOf(schema: StandardSchema | undefined): object | undefined {
  const standard = schema?.['~standard'] as JsonSchemaSource | undefined;
  try {
    const { $schema: _, ...json } = standard?.jsonSchema?.input({ target: TARGET }) ?? {};
    return Object.keys(json).length === 0 ? undefined : json;
  } catch {
    return undefined;
  }
}

interface JsonSchemaSource {
  readonly jsonSchema?: { input(options: { readonly target: string }): Record<string, unknown> };
}
