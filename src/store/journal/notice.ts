/**
 * A message from the store to the user, for the log. It refuses nothing; whether the journal accepts records is its
 * `state`.
 */
export interface JournalNotice {
  readonly event: "journal.slow" | "journal.low_space" | "journal.head" | "journal.missing_acknowledged";
  readonly message: string;
}

export type OnNotice = (notice: JournalNotice) => void;
