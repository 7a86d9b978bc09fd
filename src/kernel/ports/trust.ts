/** Trust in a workspace: what its own files may do. `daemon/trust` implements it. */
import type { TrustedWorkspace, WorkspaceView } from "../../abi/trust.ts";

/** Whether the user trusts a workspace, having seen its files. Until then its files can only forbid. */
export interface WorkspaceTrust {
  /**
   * `root`: a real path. `files`: the workspace's current files; if one has changed since, the workspace is not
   * trusted. One that the user has not seen may join them if it only forbids.
   */
  isTrusted(root: string, files: readonly BroughtFile[]): boolean;
  /** Crux itself wrote the file at the request of the user: the new content is as trusted as the old. */
  hasWritten?(root: string, before: BroughtFile | null, after: BroughtFile): void;
}

export interface BroughtFile {
  /** Absolute. */
  readonly path: string;
  /** SHA-256 of its content, hex. */
  readonly digest: string;
  /** It can only forbid. */
  readonly narrows?: boolean;
}

interface Looked {
  /** The absolute path of a compose file that is to be used: it counts with the rest. */
  readonly compose?: string | undefined;
}

interface Added extends Looked {
  /** Who trusts it. */
  readonly by: string;
  /** Where trust ends with the last process: it lasts for an hour at least, in this daemon and for this very folder. */
  readonly isForHour?: boolean | undefined;
}

/**
 * The trust decisions of the user. `dir` is any folder of a workspace; `seen`: digests by the paths of a WorkspaceView.
 */
export interface TrustDesk {
  list(): readonly TrustedWorkspace[];
  /** NOT_FOUND: no such folder. */
  show(dir: string, options?: Looked & { readonly withDiff?: boolean }): Promise<WorkspaceView>;
  /** CONFLICT: a file has changed since it was seen; nothing was trusted. Durable when it resolves. */
  add(dir: string, seen: Readonly<Record<string, string>>, options: Added): Promise<TrustedWorkspace>;
  /** Remembers the decision, so that the user is not asked again until something changes. */
  decline(dir: string, seen: Readonly<Record<string, string>>): Promise<void>;
  remove(dir: string): Promise<{ readonly root: string; readonly isRemoved: boolean }>;
}
