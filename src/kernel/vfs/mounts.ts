/** Who mounted which server where. A mount is seen by its owner, the owner's descendants and pid 0; pid 0's by all. */
import type { Pid } from "../../abi/ids.ts";
import type { McpConfig, McpServer, McpState, MountView } from "../../abi/mcp.ts";
import type { Core } from "../core.ts";
import type { Undo } from "../process/body.ts";
import type { Process } from "../process/process.ts";

export class Mounts {
  async mount(
    _core: Core,
    _owner: Process,
    _path: string,
    _config: McpConfig,
    _signal: AbortSignal,
  ): Promise<{ path: string; state: McpState }> {
    throw new Error("to be written");
  }
  /** NOT_FOUND; PERMISSION: another's. */
  async unmount(_core: Core, _caller: Process, _path: string): Promise<void> {
    throw new Error("to be written");
  }
  async unmountAll(_core: Core): Promise<void> {}
  /** The servers of an agent file, in order, each at /mnt/mcp/<pid>-<name>. Pushes what takes each back. */
  async mountAll(
    _core: Core,
    _proc: Process,
    _servers: readonly McpServer[],
    _undo: Undo[],
    _signal: AbortSignal,
  ): Promise<void> {}
  /** Those of a process that ends, one by one; a failure is logged and holds nothing up. */
  async unmountOf(_core: Core, _proc: Process): Promise<void> {}
  /** By the names of its agent file. */
  namedBy(_pid: Pid): readonly { name: string; path: string }[] {
    return [];
  }
  /** May `viewer` open what is mounted here? True for what is no mount. */
  isVisible(_core: Core, _viewer: Process, _mount: string): boolean {
    return true;
  }
  list(): readonly MountView[] {
    return [];
  }
}
