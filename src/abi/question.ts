/** Questions of an agent to the user, in the same shape from the tool that asks to the dialog that shows them. */

interface QuestionOption {
  readonly label: string;
  readonly description: string;
}

export interface QuestionItem {
  readonly question: string;
  /** At most 12 characters. */
  readonly header: string;
  /** 2 to 4 options; the user can always answer in their own words instead. */
  readonly options: readonly QuestionOption[];
  /** More than one option may be chosen. */
  readonly multi_select: boolean;
}

/** The answer to one question. */
export interface QuestionAnswer {
  /** The labels of the chosen options. */
  readonly chosen: readonly string[];
  /** The user's own words; "": none. */
  readonly text: string;
}

/** `dismissed`: the user declined to answer. `nobody`: no attached client could answer. */
export type QuestionOutcome =
  | { readonly kind: "answered"; readonly answers: readonly QuestionAnswer[] }
  | { readonly kind: "dismissed" }
  | { readonly kind: "nobody"; readonly reason: string };
