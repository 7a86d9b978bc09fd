/** The devices that the user's settings name: sources on the disk, for programs that claim them. */
import * as z from "zod";

const id = z
  .string()
  .regex(/^(?=.{1,128}$)(?!system\/|virtual\/)[A-Za-z0-9_][A-Za-z0-9._-]*(\/[A-Za-z0-9_][A-Za-z0-9._-]*)*$/);
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

export const DeviceSetting = z.discriminatedUnion("driver", [folder, frames, loop]);
export type DeviceSetting = z.infer<typeof DeviceSetting>;
