/** What the store tells a person, for the log: nothing is refused because of it. Whether it takes records is its `state`. */
export interface JournalNotice {
  readonly event: "journal.slow" | "journal.low_space" | "journal.head" | "journal.missing_acknowledged";
  readonly message: string;
}

export type OnNotice = (notice: JournalNotice) => void;
