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
