/** Reports of the journal's tools as they go over the wire and into `--json`. */

export interface FindingWire {
  readonly code: string;
  readonly severity: "notice" | "damage";
  readonly pid?: number;
  readonly proc?: string;
  readonly seq?: number;
  readonly lsn?: number;
  readonly detail: string;
  readonly repair?: string;
}

export interface CheckWire {
  readonly processes: number;
  readonly records: number;
  readonly blobs: number;
  readonly elapsed_ms: number;
  readonly findings: readonly FindingWire[];
  /** After a repair: the findings before it, the folder with copies of what was changed, what was done. `findings` holds what remains. */
  readonly repaired?: {
    readonly findings: readonly FindingWire[];
    readonly quarantine: string;
    readonly done: readonly string[];
  };
}

/** A line of `crux audit roots --json`, of the file of `audit.anchor`, and of what `--against` reads. Hashes in hex. */
export interface AnchorWire {
  readonly lsn: number;
  readonly root: string;
  /** "": this is the first root. */
  readonly previous: string;
  readonly at: number;
}

export interface VerifyWire {
  readonly records: number;
  readonly processes: number;
  readonly anchors: number;
  readonly unchecked_anchors: number;
  readonly last_anchor: AnchorWire | null;
  readonly broken: FindingWire | null;
  readonly elapsed_ms: number;
}

export interface UsageWire {
  readonly database_bytes: number;
  readonly reusable_bytes: number;
  readonly blob_bytes: number;
  readonly blobs: number;
  readonly records: number;
  readonly processes: number;
  readonly max_bytes: number;
  readonly free_bytes: number;
}

export interface CollectWire {
  readonly processes: readonly {
    readonly pid: number;
    readonly proc: string;
    readonly reason: "age" | "space";
  }[];
  readonly records: number;
  readonly blobs: number;
  readonly bytes: number;
  readonly usage: UsageWire;
}
