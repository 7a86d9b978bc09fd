/**
 * A folder for each process, which it may read and write without asking: `<root>/<process uuid>`, 0700. The policy
 * recognises it by its path.
 */
import { mkdirSync, realpathSync } from "node:fs";
import { rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import type { ProcUuid } from "../../abi/ids.ts";
import { hostError } from "../driver-error.ts";

export class ScratchStore {
  readonly root: string;

  /** Creates `root`, accessible to the user only. */
  constructor(root: string) {
    mkdirSync(root, { recursive: true, mode: 0o700 });
    this.root = realpathSync(root);
  }

  /** Creates the folder and returns its real path. Throws a documented error, as on a full disk. */
  scratchDir(uuid: ProcUuid): string {
    const path = this.pathOf(uuid);
    try {
      mkdirSync(path, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw hostError("Open", path, error);
    }
    return path;
  }

  /** Call when the process has ended: removes its folder if it is empty. */
  async removeEmpty(uuid: ProcUuid): Promise<void> {
    // a folder that is not empty, or does not exist, is left alone
    await rmdir(this.pathOf(uuid)).catch(() => {});
  }

  async remove(uuid: ProcUuid): Promise<void> {
    await rm(this.pathOf(uuid), { recursive: true, force: true });
  }

  /** Whether or not it exists. */
  pathOf(uuid: ProcUuid): string {
    if (!/^[A-Za-z0-9-]{1,64}$/.test(uuid)) throw new Error(`not a process uuid: ${uuid}`);
    return join(this.root, uuid);
  }
}
