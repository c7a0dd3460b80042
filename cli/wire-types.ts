/**
 * A type as an answer in JSON brings it: read only, and a field without a value is missing. Fields of any value, which an
 * open object has, are left out.
 */
type Wire<T> = T extends string | number | boolean | Date
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Wire<Item>[]
    : Merged<
        {
          readonly [K in keyof T as unknown extends T[K] ? never : undefined extends T[K] ? K : never]?: Wire<
            Exclude<T[K], undefined>
          >;
        } & {
          readonly [K in keyof T as undefined extends T[K] ? never : K]: Wire<T[K]>;
        }
      >;

type Merged<T> = { [K in keyof T]: T[K] };

/** Whether two types are the same to the compiler, also in what is optional. */
type IsSame<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false;

/** Any value where both types are the same on the wire; else none, with what was expected. */
export type SameAs<Expected, Found> =
  IsSame<Wire<Expected>, Wire<Found>> extends true
    ? unknown
    : Readonly<{ "must be a schema of": Wire<Expected>; "is one of": Wire<Found> }>;
