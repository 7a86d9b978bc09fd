/** Questions of an agent to its user, in one shape from the tool that asks to the dialog that shows them. */

interface QuestionOption {
  readonly label: string;
  readonly description: string;
}

export interface QuestionItem {
  readonly question: string;
  /** At most 12 characters. */
  readonly header: string;
  /** 2 to 4; words of the user's own are always possible. */
  readonly options: readonly QuestionOption[];
  /** More than one option may be chosen. */
  readonly multi_select: boolean;
}

/** To one of them. */
export interface QuestionAnswer {
  /** Labels of the options. */
  readonly chosen: readonly string[];
  /** The user's own words; "" none. */
  readonly text: string;
}

/** `dismissed`: the user does not want to answer. `nobody`: nobody is there who could. */
export type QuestionOutcome =
  | { readonly kind: "answered"; readonly answers: readonly QuestionAnswer[] }
  | { readonly kind: "dismissed" }
  | { readonly kind: "nobody"; readonly reason: string };
