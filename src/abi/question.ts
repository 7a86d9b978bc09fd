/** Questions of an agent to the person it works for. */

interface QuestionOption {
  readonly label: string;
  readonly description: string;
}

export interface QuestionItem {
  readonly question: string;
  /** At most 12 characters. */
  readonly header: string;
  /** 2 to 4; words of one's own are always possible. */
  readonly options: readonly QuestionOption[];
  /** More than one option may be chosen. */
  readonly multiSelect: boolean;
}

/** To one of them. */
export interface QuestionAnswer {
  /** Labels of the options. */
  readonly chosen: readonly string[];
  /** The person's own words; "" none. */
  readonly text: string;
}

/** `dismissed`: the person does not want to answer. `nobody`: there is none who could. */
export type QuestionOutcome =
  | { readonly kind: "answered"; readonly answers: readonly QuestionAnswer[] }
  | { readonly kind: "dismissed" }
  | { readonly kind: "nobody"; readonly reason: string };
