/** The devices that the user's settings name: sources on the disk, for programs that claim them. */
import * as z from "zod";
import { DEVICE_KINDS } from "../device.ts";

const id = z
  .string()
  .regex(/^(?=.{1,128}$)(?!system\/|virtual\/)[A-Za-z0-9_][A-Za-z0-9._-]*(\/[A-Za-z0-9_][A-Za-z0-9._-]*)*$/, {
    error: ({ input }) =>
      /^(system|virtual)\//.test(String(input))
        ? "ids that begin with system/ or virtual/ are reserved for the devices of Crux"
        : "an id has 1 to 128 letters, digits and ._-, in parts with / between, none of which begins with . or -",
  });
const path = z.string().startsWith("/").max(4_096);

const folder = z.strictObject({ id, driver: z.literal("folder"), path });
const frames = z.strictObject({
  id,
  driver: z.literal("frames"),
  path,
  frameBytes: z.int().min(1).max(1_048_576),
  everyMs: z.int().min(10).max(3_600_000),
});
const loop = z.strictObject({ id, driver: z.literal("loop") });
const hardware = { id, path, kind: z.enum(DEVICE_KINDS).optional() };
const readOnly = z.boolean().optional();
const char = z.strictObject({
  ...hardware,
  driver: z.literal("char"),
  options: z.strictObject({ readOnly }).optional(),
});
const serial = z.strictObject({
  ...hardware,
  driver: z.literal("serial"),
  options: z
    .strictObject({
      readOnly,
      baud: z.int().min(50).max(4_000_000).optional(),
      dataBits: z.int().min(5).max(8).optional(),
      parity: z.enum(["none", "even", "odd"]).optional(),
      stopBits: z.int().min(1).max(2).optional(),
      flow: z.enum(["none", "rtscts", "xonxoff"]).optional(),
    })
    .optional(),
});

export const DeviceSetting = z.discriminatedUnion("driver", [folder, frames, loop, char, serial]);
export type DeviceSetting = z.infer<typeof DeviceSetting>;
export type CharSetting = z.infer<typeof char>;
export type SerialSetting = z.infer<typeof serial>;
