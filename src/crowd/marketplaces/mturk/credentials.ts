/** The keys of an AWS account that is linked with a requester's account. */
export interface MturkCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}
