/** /dev/fs: the files of the host. */
import { basename } from "node:path";
import { type Caller, type Device, type FileStat, O_RDONLY, O_RDWR, O_WRONLY } from "../../abi/device.ts";
import type { Clock } from "../../abi/program.ts";
import type { HostExec, RealPath } from "../../kernel/ports/host.ts";
import { driverError, hostError } from "../driver-error.ts";
import { openReader, openWriter, type Target } from "./byte-files.ts";
import { checkCovered } from "./covered.ts";
import { PathLocks } from "./locks.ts";
import { hostPath } from "./path.ts";
import { type FsParts, RequestFile } from "./request-file.ts";
import { type Env, Ripgrep } from "./ripgrep.ts";
import { statEntry } from "./stat.ts";

interface FsDeps {
  readonly exec: HostExec;
  readonly realPath: RealPath;
  /** The daemon's environment, used to find ripgrep and git's ignore files. */
  readonly env: Env;
  /** Secret files, which a search of a directory leaves out; a caller that names one has been asked. */
  readonly isSecret: (path: string) => boolean;
  /** The editor that shows the files of a process. Absent: no editors. */
  readonly editorOf?: FsParts["editorOf"];
  readonly checkRoom?: FsParts["checkRoom"] | undefined;
  /** Places that a search does not see. Absent: none. */
  readonly closed?: (() => readonly string[]) | undefined;
  /** The clock for the time limit of a search; default: the machine's clock. */
  readonly clock?: Pick<Clock, "sleep">;
}

export function fsDevice(deps: FsDeps): Device {
  const parts: FsParts = {
    locks: new PathLocks(),
    realPath: deps.realPath,
    isSecret: deps.isSecret,
    editorOf: deps.editorOf,
    checkRoom: deps.checkRoom,
    ripgrep: new Ripgrep(deps.exec, deps.env, { clock: deps.clock, closed: deps.closed }),
  };
  return {
    name: "fs",
    traffic: "byte",
    async open(subpath, flags, caller) {
      const path = hostPath(subpath, caller.cwd, "Open");
      const real = deps.realPath(path);
      const target: Target = { path, real, stat: () => fileStat(path, { ...deps, caller }) };
      try {
        if (flags !== O_RDWR)
          checkCovered(caller, { kind: flags === O_RDONLY ? "read" : "write", real, path }, "Open");
        switch (flags) {
          case O_RDONLY:
            return await openReader(target);
          case O_WRONLY:
            return await openWriter(target, parts, caller);
          case O_RDWR:
            return new RequestFile(target, caller, parts);
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
      const exists = await fileStat(path, deps).then(
        () => true,
        () => false,
      );
      return [{ kind: "write", path, change: exists ? "modify" : "create" }];
    },
    statEffects: (subpath, caller) => [{ kind: "read", path: hostPath(subpath, caller.cwd, "Stat") }],
    stat: (subpath: string, caller: Caller) =>
      fileStat(hostPath(subpath, caller.cwd, "Stat"), { ...deps, caller }),
  };
}

async function fileStat(
  path: string,
  { realPath, caller }: Pick<FsDeps, "realPath"> & { readonly caller?: Caller },
): Promise<FileStat> {
  try {
    const real = realPath(path);
    checkCovered(caller, { kind: "read", real, path }, "Stat");
    return await statEntry(real, basename(path));
  } catch (error) {
    throw hostError("Stat", path, error);
  }
}
