/** For tests of /dev/fs: the device over real OS children. */
import { afterAll } from "vitest";
import type { Device } from "../../abi/device.ts";
import { HostProcesses } from "../host/exec.ts";
import { realPath } from "../host/real-path.ts";
import { fsDevice } from "./device.ts";

/** For all tests of a file: the children end with the last of them. Secret are `.env` and what lies in `aws`. */
export function fsForTests(): { device: Device; exec: HostProcesses } {
  const exec = new HostProcesses({ kernelId: "k-fs", epoch: 1 });
  afterAll(() => exec.close());
  const isSecret = (path: string) => /\/(\.env|aws)(\/|$)/.test(path);
  return { device: fsDevice({ exec, realPath, env: process.env, isSecret }), exec };
}
