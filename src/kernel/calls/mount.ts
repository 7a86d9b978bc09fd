/** The calls of mounts: MCP servers as files. */
import { SyscallError } from "../../abi/errors.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import type { McpConfig } from "../../abi/mcp.ts";
import { serverLabel } from "../../lib/redact/server-label.ts";
import type { KernelCall } from "../gate/gate.ts";
import { guard } from "../gate/guard.ts";
import { ownCopy } from "../gate/own-copy.ts";
import type { Gatekeeping } from "../gate/passage.ts";
import type { Scope } from "../gate/scope.ts";
import { type Launching, MOUNT_TOOL, mountEffect } from "../gate/servers.ts";
import type { Mounts } from "../vfs/mounts.ts";

/** The parts of the kernel that these calls use. */
interface MountKernel {
  readonly mounts: Pick<Mounts, "mount" | "unmount" | "unmountAll">;
}

type Mounting = Gatekeeping & Launching & MountKernel;

/** Mount(path, server): an MCP server as files. For a program, starting or reaching the server passes the guard. */
const mount: KernelCall<"mount", { path: string; config: McpConfig }, Mounting> = {
  name: "Mount",
  holds: true,
  take: (path, config) => ({ path, config }),
  args: ({ path, config }) => ({ path, server: serverLabel(config) }),
  result: ({ state }) => state,
  async run(pass, { path, config: given }) {
    const { core, self } = pass;
    const config = ownCopy(self, "Mount", given);
    const act = (scope?: Scope) =>
      core.mounts.mount({ owner: self, path, config, isOutside: scope?.sandbox === null }, pass.signal);
    // the user's own mounts need no permission
    if (self.pid === PID_KERNEL) {
      core.journalWatch.check("Mount");
      return act();
    }
    const input = serverLabel(config);
    const effectful = {
      syscall: "Mount",
      device: path,
      tool: MOUNT_TOOL,
      effects: [mountEffect(core, self, { path, config })],
      effectClass: "once",
      input,
    } as const;
    return guard(pass, effectful, act);
  },
};

/** Unmount(path): removes the server; files that are open on it return UNAVAILABLE from then on. */
const unmount: KernelCall<"unmount", { path: string }, MountKernel> = {
  name: "Unmount",
  take: (path) => ({ path }),
  args: ({ path }) => ({ path }),
  run: ({ core, self }, { path }) => core.mounts.unmount(self, path),
};

/** UnmountAll(): all mounts, at shutdown; only for pid 0. */
const unmountAll: KernelCall<"unmountAll", Record<string, never>, MountKernel> = {
  name: "UnmountAll",
  take: () => ({}),
  args: () => ({}),
  async run({ core, self }) {
    if (self.pid !== PID_KERNEL) {
      const message = "only the kernel's clients may unmount everything";
      throw new SyscallError({ syscall: "UnmountAll", pid: self.pid, code: "PERMISSION", message });
    }
    await core.mounts.unmountAll();
  },
};

export const mountCalls = { mount, unmount, unmountAll };
