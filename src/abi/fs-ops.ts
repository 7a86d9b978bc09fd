import type { HostStat } from "./device.ts";
import type { JobRecord } from "./jobs.ts";
import type { CommandProgress } from "./tool.ts";

/**
 * The requests of /dev/fs opened O_RDWR at `/dev/fs/<absolute host path>` (or `/dev/fs/./<path below cwd>`): write one JSON
 * request, read its answer. `read` answers raw bytes, the others one JSON object.
 * Errors: NOT_FOUND missing; CONFLICT exists, not empty, or changed (`expect`); INVALID unknown op; PERMISSION unwritable;
 * else DRIVER with the host's errno.
 */
export type FsRequest =
  /** Bytes from offset; length absent: to the end, at most 16 MiB. Devices, FIFOs and sockets are never opened: INVALID. */
  | { op: "read"; offset?: number; length?: number }
  /**
   * The whole file, put in place by rename: old file or new one, never half. `expect`: SHA-256 (hex) the file must have now,
   * null: must not exist; absent: no check. Mode, owner and symlinks stay. `mkdirs`: make missing directories. `part`: the
   * content takes the place of these bytes of the file that is there, and all others stay; only with `expect`.
   */
  | {
      op: "write";
      content: string;
      encoding?: "utf8" | "base64";
      append?: boolean;
      expect?: string | null;
      mkdirs?: boolean;
      part?: { at: number; length: number };
    }
  | { op: "mkdir" }
  | { op: "remove" }
  | { op: "rename"; to: string }
  /** The same answer as Stat of the path (FileStat). */
  | { op: "stat" }
  /** The number of pages of a PDF, and the text of the pages `first` to `last`, counted from 1; `last` absent: no text. */
  | { op: "pdf"; first?: number; last?: number }
  /** The tree below a directory, directories first, by name; `depth` 1 is the directory alone. */
  | { op: "list"; depth?: number; hidden?: boolean; ignored?: boolean; ignore?: string[]; limit?: number }
  | GrepRequest
  | FilesRequest;

export interface PdfAnswer {
  pages: number;
  /** One for each page that was asked for and is there. */
  texts: string[];
}

/** ripgrep over a file or directory. */
export interface GrepRequest {
  op: "grep";
  pattern: string;
  output: "content" | "files" | "count";
  include?: string;
  context?: number;
  literal?: boolean;
  case_insensitive?: boolean;
  multiline?: boolean;
  type?: string;
  no_ignore?: boolean;
}

/** All files below a directory that match a glob. */
export interface FilesRequest {
  op: "files";
  glob?: string;
  no_ignore?: boolean;
  /** The number of files to skip at the beginning. */
  offset?: number;
  limit?: number;
}

export interface FsWritten {
  ok: true;
  created: boolean;
  /** SHA-256 of the new content, hex. */
  sha256: string;
}

export interface FsListing {
  entries: { path: string; kind: HostStat["kind"]; size: number; depth: number }[];
  /** The number of entries beyond the limit. */
  more: number;
}

/**
 * ripgrep's own output, NUL after each path (`--null`), paths relative to the searched directory where it is one. Of a line over
 * 2,000 bytes a window around its first match, with … where it was cut.
 */
export interface GrepAnswer {
  exit_code: number;
  stdout: string;
  stderr: string;
  /** The time or size limit cut the search. */
  partial: boolean;
}

export interface FilesAnswer {
  /** Newest modification first, then by name; paths relative to the searched directory. */
  files: { path: string; mtime_ms: number; size: number }[];
  /** The number of all files that match. */
  total: number;
  partial: boolean;
}

/** The JSON form of /dev/shell. The run is over when the write resolves. */
export interface ShellRequest {
  command: string;
  cwd?: string;
  env?: Record<string, string>;
  timeout_ms?: number;
  /** true: one stream in order of arrival in `output`; stdout and stderr stay empty. */
  merge?: boolean;
  /** Runs outside the sandbox; INVALID where the settings do not let a call ask for that. */
  unconfined?: boolean;
  /** It becomes a job of its process after this long, if it still runs; 0: at once. Only with `merge`. */
  job_after_ms?: number;
  /** The command becomes a job when it runs for long, so that an attached user does not wait for it. */
  auto_job?: boolean;
  /** What happens when the timeout passes; default `end`. */
  at_timeout?: "end" | "job";
  /** Reads while it runs give lines of progress (ShellProgress), as data comes, at most one a second. */
  progress?: boolean;
}

/** A line before the answer. */
export interface ShellProgress {
  progress: CommandProgress;
}

export interface ShellAnswer {
  /** null when a signal ended it. */
  exit_code: number | null;
  signal: string | null;
  /** The deadline passed and the process group was ended. */
  timed_out: boolean;
  /** The caller was cancelled and the process group was ended. */
  interrupted: boolean;
  stdout: string;
  stderr: string;
  /** Merged output: the whole when it is at most 2 MiB, else its first and last MiB. */
  output: string;
  truncated: boolean;
  total_bytes: number;
  /** Where the whole output lies, when it was cut: a path under /var/out. */
  output_path: string | null;
  duration_ms: number;
  /** The output is what a terminal would show; what a reader must know of the difference. Absent: nothing. */
  altered?: string;
  /** What its sandbox seems to have refused, with the setting that governs it; absent: nothing, or it has none. */
  sandbox?: string | null;
  /** It has become this job and runs on: `job-3`; `output` is what it has printed so far. null: it has ended. */
  job: string | null;
}

/** The requests of /dev/shell/jobs/<id>; `offset`: default what came since the last read. CONFLICT: kill of one that has ended. */
export type JobRequest =
  | { op: "output"; block?: boolean; timeout_ms?: number; offset?: number; max_bytes?: number }
  | { op: "kill"; max_bytes?: number };

export interface JobAnswer {
  job: JobRecord;
  /** From `offset` on, at most `max_bytes` (256 KiB). */
  output: string;
  next_offset: number;
  total_bytes: number;
}
