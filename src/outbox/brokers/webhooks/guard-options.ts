/** Which addresses webhooks may reach. */
export interface GuardOptions {
  /** Also `http://`, for a network that is trusted. */
  readonly allowHttp?: boolean;
  /** Ports other than 443 (and 80, where http is allowed). */
  readonly ports?: readonly number[];
  /** Networks of one's own that may be reached, such as `10.1.0.0/16`. */
  readonly allowedNetworks?: readonly string[];
}
