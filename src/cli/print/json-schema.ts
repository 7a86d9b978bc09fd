/** `--json-schema`: asks for JSON of that shape, and checks what came. zod is loaded only for this. */
import { jsonOrFile } from "../run/flag-settings.ts";
import { invalid } from "../screen/errors.ts";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** How often a misfit goes back to the model. */
export const MAX_CORRECTIONS = 3;

export type Fit =
  | { readonly kind: "fits"; readonly value: Json }
  | { readonly kind: "misfit"; readonly why: string };

export interface AnswerSchema {
  /** The prompt with what is asked of the answer. */
  asking(prompt: string): string;
  fit(answer: string): Fit;
}

/** `given`: JSON, or a file of it. INVALID: it is not JSON, or not a schema. NOT_FOUND: no such file. */
export async function answerSchema(given: string, cwd: string): Promise<AnswerSchema> {
  const { fromJSONSchema, prettifyError } = await import("zod");
  const { value: schema } = jsonOrFile(given, cwd, { flag: "--json-schema", what: "JSON Schema" });
  if (typeof schema !== "object" || schema === null || Array.isArray(schema))
    throw invalid("--json-schema needs a JSON Schema: an object, or a file of one");
  const shape = compiled(() => fromJSONSchema(schema as never));
  return {
    asking: (prompt) =>
      `${prompt}\n\nWhen you are done, answer with one JSON value that matches this JSON Schema, and with nothing else:\n${JSON.stringify(schema)}`,
    fit: (answer) => {
      const value = findJson(answer);
      if (value === undefined) return { kind: "misfit", why: "the answer is not one JSON value" };
      const checked = shape.safeParse(value);
      return checked.success
        ? { kind: "fits", value }
        : { kind: "misfit", why: prettifyError(checked.error) };
    },
  };
}

export function correction(why: string): string {
  return `That answer does not match the JSON Schema: ${why}\nAnswer again with one JSON value that matches it, and with nothing else.`;
}

function compiled<T>(compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    throw invalid(`--json-schema: ${(error as Error).message}`);
  }
}

/** The whole text as JSON, or what stands in its only code fence; undefined: neither. */
function findJson(text: string): Json | undefined {
  const fenced = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(text)?.[1];
  try {
    return JSON.parse(fenced ?? text) as Json;
  } catch {
    return undefined;
  }
}
