/** Methods on the keys of model providers that the user has stored. No answer contains a key. */
import * as z from "zod";
import { CREDENTIAL_DRIVERS } from "../credentials.ts";
import { empty, type MethodSpec } from "./spec.ts";

const driver = z.enum(CREDENTIAL_DRIVERS);

const stored = z.strictObject({
  driver,
  ends_with: z.string().describe("The last 4 characters of the key."),
  base_url: z.string().optional().describe("Absent: the server of the vendor."),
});

export const CREDENTIAL_METHODS = {
  "credential.list": {
    summary: "the providers whose key is stored",
    kind: "request",
    right: "admin",
    params: empty,
    result: z.strictObject({ credentials: z.array(stored), file: z.string() }),
  },
  "credential.set": {
    summary: "store the key of a provider, for requests whose environment names none",
    kind: "request",
    right: "admin",
    params: z.strictObject({
      driver,
      key: z
        .string()
        .min(8)
        .max(4096)
        .regex(/^[\x21-\x7e]+$/),
      base_url: z
        .url({ protocol: /^https?$/ })
        .max(2048)
        .optional(),
    }),
    result: z.strictObject({
      file: z.string().describe("The file of stored keys; readable by the user alone."),
      place: z.enum(["keychain", "file"]).describe("keychain: the file has only the server."),
    }),
  },
  "credential.remove": {
    summary: "forget the stored key of a provider",
    kind: "request",
    right: "admin",
    params: z.strictObject({ driver }),
    result: z.strictObject({ removed: z.boolean().describe("False: no key was stored.") }),
  },
} as const satisfies Record<string, MethodSpec>;
