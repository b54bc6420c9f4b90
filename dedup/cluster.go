package dedup

// A Place is where a text stands in the clusters: led by the text Leader (itself,
// if it leads), which it resembles as much as Resemblance says.
type Place struct {
	Leader      int
	Resemblance float64
}

// Clusters groups n texts, given in order of rank. In that order, each text not yet in a cluster
// leads one, and takes every text not yet in a cluster that is similar enough to it. So clusters do
// not chain: every member resembles its leader. The result depends on the ranks alone.
//
// alike calls take with the texts after leader that are similar enough to it, in any order; taken
// says which texts it may pass over, because they are in a cluster. So no list of pairs is needed,
// which n like texts would make n(n-1)/2 long. An error of alike ends the search.
func Clusters(n int, alike func(leader int, taken []bool, take func(other int, resemblance float64)) error) ([]Place, error) {
	places := make([]Place, n)
	taken := make([]bool, n)
	for i := range places {
		if taken[i] {
			continue
		}
		places[i] = Place{i, 1}
		err := alike(i, taken, func(other int, resemblance float64) {
			if !taken[other] {
				taken[other] = true
				places[other] = Place{i, resemblance}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return places, nil
}
