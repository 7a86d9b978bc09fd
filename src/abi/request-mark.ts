/** The mark of a client's request in the record of what it made, so that a repeat finds that record and makes nothing. */
export interface RequestMark {
  /** A hash of the caller, the method and the client's key; none of them can be derived from it. */
  readonly id: string;
  /** A hash of those and all parameters: it differs when the same key is used for another request. */
  readonly digest: string;
}
