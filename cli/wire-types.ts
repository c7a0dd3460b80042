/** A type as JSON brings it: nothing of it can be written, and a field without a value is missing. */
type Wire<T> = T extends string | number | boolean | Date
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Wire<Item>[]
    : Merged<
        { readonly [K in keyof T as undefined extends T[K] ? K : never]?: Wire<Exclude<T[K], undefined>> } & {
          readonly [K in keyof T as undefined extends T[K] ? never : K]: Wire<T[K]>;
        }
      >;

type Merged<T> = { [K in keyof T]: T[K] };

/** Two types are one where whatever depends on them is one. */
type IsSame<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false;

/** Any value where both types are the same on the wire; else none, with what was expected. */
export type SameAs<Expected, Found> =
  IsSame<Wire<Expected>, Wire<Found>> extends true
    ? unknown
    : Readonly<{ "must be a schema of": Wire<Expected>; "is one of": Wire<Found> }>;
