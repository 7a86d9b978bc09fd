import type { HostStat } from "../device.ts";
import type { CommandProgress } from "../tool.ts";
import type { JobRecord } from "./jobs.ts";

/**
 * The requests of /dev/fs opened O_RDWR at `/dev/fs/<absolute host path>` (or `/dev/fs/./<path below cwd>`): write one
 * JSON request, read its answer. `read` answers raw bytes, the others one JSON object. Errors: NOT_FOUND missing;
 * CONFLICT exists, not empty, or changed (`expect`); INVALID unknown op; PERMISSION unwritable; else DRIVER with the
 * host's errno.
 */
export type FsRequest =
  /**
   * Bytes from offset; length absent: to the end, at most 16 MiB. Devices, FIFOs and sockets are never opened: INVALID.
   */
  | { op: "read"; offset?: number; length?: number }
  /**
   * The whole file, put in place by rename: old file or new one, never half. `expect`: SHA-256 (hex) the file must have
   * now, null: must not exist; absent: no check. Mode, owner and symlinks stay. `mkdirs`: make missing directories.
   * `part`: the content takes the place of these bytes of the file that is there, and all others stay; only with
   * `expect`.
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
  /**
   * The number of pages of a PDF, and the text of the pages `first` to `last`, counted from 1; `last` absent: no text.
   */
  | { op: "pdf"; first?: number; last?: number }
  /** The tree below a directory, directories first, by name; `depth` 1 is the directory alone. */
  | { op: "list"; depth?: number; hidden?: boolean; ignored?: boolean; ignore?: string[]; limit?: number }
  | GrepRequest
  | FilesRequest;

export interface PdfAnswer {
  pages: number;
  /** One text for each requested page that exists. */
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
 * The output of ripgrep, with NUL after each path (`--null`); paths are relative to the searched directory, if it is
 * one. A line over 2,000 bytes is cut to a window around its first match, with … where it was cut.
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

/** The JSON form of /dev/shell. The command has ended, or became a job, when the write resolves. */
export interface ShellRequest {
  command: string;
  cwd?: string;
  env?: Record<string, string>;
  timeout_ms?: number;
  /** true: one stream in order of arrival in `output`; stdout and stderr stay empty. */
  merge?: boolean;
  /** Runs outside the sandbox; INVALID if the settings do not let a call request that. */
  unconfined?: boolean;
  /** After this time, a running command becomes a job of its process; 0: at once. Only with `merge`. */
  job_after_ms?: number;
  /** The command becomes a job when it runs for long, so that an attached user does not wait for it. */
  auto_job?: boolean;
  /** What happens when the timeout passes; default `end`. */
  at_timeout?: "end" | "job";
  /** Reads during the run return progress lines (ShellProgress) as output arrives, at most one a second. */
  progress?: boolean;
}

/** A line before the answer. */
export interface ShellProgress {
  progress: CommandProgress;
}

export interface ShellAnswer {
  /** null if a signal ended it. */
  exit_code: number | null;
  signal: string | null;
  /** The deadline passed and the process group was ended. */
  timed_out: boolean;
  /** The caller was cancelled and the process group was ended. */
  interrupted: boolean;
  stdout: string;
  stderr: string;
  /** The merged output: all of it up to 2 MiB, else its first and last MiB. */
  output: string;
  truncated: boolean;
  total_bytes: number;
  /** If the output was cut: the path of the whole output, under /var/out. */
  output_path: string | null;
  duration_ms: number;
  /** How the output differs from the bytes printed, if it shows what a terminal would show. Absent: no difference. */
  altered?: string;
  /** What the sandbox seems to have refused, with the setting that governs it; absent: nothing, or no sandbox. */
  sandbox?: string | null;
  /** The job that continues the command: `job-3`; `output` is the output so far. null: the command has ended. */
  job: string | null;
}

/**
 * The requests of /dev/shell/jobs/<id>. `offset` defaults to the end of the last read. CONFLICT: a kill of an ended
 * job.
 */
export type JobRequest =
  | { op: "output"; block?: boolean; timeout_ms?: number; offset?: number; max_bytes?: number }
  | { op: "kill"; max_bytes?: number };

export interface JobAnswer {
  job: JobRecord;
  /** The output from `offset` on, at most `max_bytes` (256 KiB). */
  output: string;
  next_offset: number;
  total_bytes: number;
}
