import type { TrustedWorkspace, WorkspaceView } from "../../abi/trust.ts";

/** Has a person trusted a workspace, by name, having seen what it brings? Until then what it brings only forbids. */
export interface WorkspaceTrust {
  /** `root`: a real path. `files`: what the workspace would bring, as it is now; one that changed since is not trusted. */
  isTrusted(root: string, files: readonly BroughtFile[]): boolean;
  /** Crux itself has written the file at a person's word: what it holds now is as trusted as what it held. */
  hasWritten?(root: string, before: BroughtFile | null, after: BroughtFile): void;
}

export interface BroughtFile {
  /** Absolute. */
  readonly path: string;
  /** SHA-256 of what is in it, hex. */
  readonly digest: string;
}

/** What a person says of workspaces. `dir` is any folder of one; `seen`: digests by the paths of a WorkspaceView. */
export interface TrustDesk {
  list(): readonly TrustedWorkspace[];
  /** NOT_FOUND: no such folder. */
  show(dir: string, options?: { readonly withDiff?: boolean }): Promise<WorkspaceView>;
  /** CONFLICT: something that was seen is another by now, and nothing was trusted. Durable when it resolves. */
  add(dir: string, seen: Readonly<Record<string, string>>, by: string): Promise<TrustedWorkspace>;
  /** So that nobody is asked again while nothing changes. */
  decline(dir: string, seen: Readonly<Record<string, string>>): Promise<void>;
  remove(dir: string): Promise<{ readonly root: string; readonly isRemoved: boolean }>;
}
