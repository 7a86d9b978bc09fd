/** A message for the user's log; it refuses nothing. Whether the journal accepts records is its `state`. */
export interface JournalNotice {
  readonly event: "journal.slow" | "journal.low_space" | "journal.head" | "journal.missing_acknowledged";
  readonly message: string;
}

export type OnNotice = (notice: JournalNotice) => void;
