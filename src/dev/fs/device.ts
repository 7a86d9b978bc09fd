/** /dev/fs: the files of the host. */
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { type Caller, type Device, type FileStat, O_RDONLY, O_RDWR, O_WRONLY } from "../../abi/device.ts";
import type { Clock } from "../../abi/program.ts";
import type { HostExec, RealPath } from "../../kernel/ports/host.ts";
import { driverError, hostError } from "../driver-error.ts";
import { openReader, openWriter, type Target } from "./byte-files.ts";
import { PathLocks } from "./locks.ts";
import { hostPath } from "./path.ts";
import { type FsParts, RequestFile } from "./request-file.ts";
import { type Env, Ripgrep } from "./ripgrep.ts";

interface FsDeps {
  readonly exec: HostExec;
  readonly realPath: RealPath;
  /** The daemon's own environment: where ripgrep and git's ignore files are. */
  readonly env: Env;
  /** A search of a directory leaves these out; whoever names one has been asked. */
  readonly isSecret: (path: string) => boolean;
  /** Of a search's deadline; default the machine's own. */
  readonly clock?: Pick<Clock, "sleep">;
}

const mount = "/dev/fs";

export function fsDevice(deps: FsDeps): Device {
  const parts: FsParts = {
    locks: new PathLocks(),
    realPath: deps.realPath,
    isSecret: deps.isSecret,
    ripgrep: new Ripgrep(deps.exec, deps.env, { clock: deps.clock }),
  };
  return {
    name: "fs",
    traffic: "byte",
    async open(subpath, flags, caller) {
      const path = hostPath(subpath, caller.cwd, "Open");
      const target: Target = { path, real: deps.realPath(path), stat: () => fileStat(path) };
      try {
        switch (flags) {
          case O_RDONLY:
            return await openReader(target);
          case O_WRONLY:
            return await openWriter(target, parts, caller);
          case O_RDWR:
            return new RequestFile(path, caller, parts, target.stat);
        }
      } catch (error) {
        throw hostError("Open", path, error);
      }
      throw driverError("Open", "INVALID", `unknown flag: ${flags}`);
    },
    async openEffects(subpath, flags, caller) {
      const path = hostPath(subpath, caller.cwd, "Open");
      if (flags === O_RDONLY) return [{ kind: "read", path }];
      if (flags !== O_WRONLY) return [];
      const exists = await fileStat(deps.realPath(path)).then(
        () => true,
        () => false,
      );
      return [{ kind: "write", path, change: exists ? "modify" : "create" }];
    },
    stat: (subpath: string, caller: Caller) => fileStat(hostPath(subpath, caller.cwd, "Stat")),
  };
}

async function fileStat(path: string): Promise<FileStat> {
  try {
    const { size } = await stat(path);
    return { name: basename(path) || "/", size, isDevice: false, devicePath: mount };
  } catch (error) {
    throw hostError("Stat", path, error);
  }
}
