/** What a process has seen of files (seen-file-set.ts), as its devices use it. */
import type { SeenFile, SeenFiles } from "../../abi/device.ts";
import type { Core } from "../core.ts";
import { addLabels } from "../labels/labelled.ts";
import type { Process } from "./process.ts";
import type { SeenBody } from "./seen-file-set.ts";

/** Each `set` is journalled. */
export function seenFilesOf(core: Core, self: Process): SeenFiles {
  const { seen: files } = self;
  return {
    get epoch() {
      return files.epoch;
    },
    get: (path) => files.use(path),
    has: (path) => files.has(path),
    set: (path, seen) => {
      const marked: SeenFile = { ...seen, epoch: files.epoch };
      files.set(path, marked);
      addLabels(core, self, core.fileLabels.ofContent(seen.sha256));
      core.note(self, "file.seen", { path, ...marked } satisfies SeenBody);
    },
  };
}
