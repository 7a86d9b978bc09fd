/** The shape of a method in the registry, and schemas that several methods share. */
import * as z from "zod";
import { PICTURES } from "../media/pictures.ts";
import { PROTOCOL } from "../wire.ts";

export interface MethodSpec {
  readonly summary: string;
  readonly kind: "request" | "stream";
  /** The right that a caller needs; clients on the user's own socket have all rights. */
  readonly right: "self" | "observe" | "control" | "spawn" | "approve" | "admin" | "device";
  readonly params: z.ZodType;
  /** undefined: the response has no payload. */
  readonly result: z.ZodType | undefined;
}

export const pid = z.int().min(0);
export const name = z.string().min(1).max(64);
export const text = z.string().max(PROTOCOL.textChars);
export const pictures = z
  .array(
    z.strictObject({
      type: z.literal("image"),
      media_type: z.enum(PICTURES.types),
      data: z.string().describe("The bytes in base64."),
    }),
  )
  .min(1)
  .max(PICTURES.count)
  .describe(
    `Pictures that the model is shown after the text, of at most ${PICTURES.bytes / 1024 / 1024} MiB together. The text may be empty then, and gets a line for each.`,
  );
export const environment = z.record(z.string(), z.string());
/** Chosen by the client: repeated requests with the same key within a day are carried out once. */
export const idempotencyKey = z.string().min(1).max(128);
export const empty = z.strictObject({});
