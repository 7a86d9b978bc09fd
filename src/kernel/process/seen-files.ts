/** What a process has seen of files (seen-file-set.ts), as its devices use it. */
import type { SeenFile, SeenFiles } from "../../abi/device.ts";
import type { Label } from "../../abi/labels.ts";
import { addLabels, type LabelKeeper } from "../labels/labelled.ts";
import type { RecordKind } from "../ports/journal.ts";
import type { Process } from "./process.ts";
import type { SeenBody } from "./seen-file-set.ts";

/** What keeping the files that a process has seen needs of the kernel. */
export interface Seeing extends LabelKeeper {
  readonly fileLabels: { ofContent(sha256: string): readonly Label[] };
  note(self: Process, kind: RecordKind, body: unknown): void;
}

/** Each `set` is journalled. */
export function seenFilesOf(core: Seeing, self: Process): SeenFiles {
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
