package align

// Common finds a longest common subsequence of two sequences. For each element of a, it returns the
// index of its match in b, or -1. Time and memory are proportional to the product of the lengths,
// after [Ends] is removed.
func Common[T comparable](a, b []T) []int {
	matches := make([]int, len(a))
	head, tail := Ends(a, b)
	for i := range matches {
		switch {
		case i < head:
			matches[i] = i
		case i >= len(a)-tail:
			matches[i] = i - len(a) + len(b)
		default:
			matches[i] = -1
		}
	}
	a, b = a[head:len(a)-tail], b[head:len(b)-tail]
	width := len(b) + 1
	longest := make([]int32, (len(a)+1)*width) // longest[i*width+j] is the length of the longest common subsequence of a[i:] and b[j:]
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i*width+j] = longest[(i+1)*width+j+1] + 1
			} else {
				longest[i*width+j] = max(longest[(i+1)*width+j], longest[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			matches[head+i] = head + j
			i, j = i+1, j+1
		case longest[(i+1)*width+j] >= longest[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return matches
}

// Ends returns the number of equal elements at the beginning of two sequences, and of further equal
// elements at their end.
func Ends[T comparable](a, b []T) (head, tail int) {
	short := min(len(a), len(b))
	for head < short && a[head] == b[head] {
		head++
	}
	for tail < short-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}
