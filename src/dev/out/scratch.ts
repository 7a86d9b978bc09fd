/** A folder for each process that it may read and write without asking: `<root>/<process uuid>`, 0700. The policy knows it by its path. */
import { mkdirSync, realpathSync } from "node:fs";
import { rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import type { ProcUuid } from "../../abi/ids.ts";

export class ScratchStore {
  readonly #root: string;

  /** Makes `root`, for the user alone. */
  constructor(root: string) {
    mkdirSync(root, { recursive: true, mode: 0o700 });
    this.#root = realpathSync(root);
  }

  /** Makes the folder and gives its real path. */
  scratchDir(uuid: ProcUuid): string {
    const path = this.#path(uuid);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return path;
  }

  /** Its process has gone: a folder it put nothing into goes too. */
  async removeEmpty(uuid: ProcUuid): Promise<void> {
    // one that holds something, and one that is gone, stay as they are
    await rmdir(this.#path(uuid)).catch(() => {});
  }

  async remove(uuid: ProcUuid): Promise<void> {
    await rm(this.#path(uuid), { recursive: true, force: true });
  }

  #path(uuid: ProcUuid): string {
    if (!/^[A-Za-z0-9-]{1,64}$/.test(uuid)) throw new Error(`not a process uuid: ${uuid}`);
    return join(this.#root, uuid);
  }
}
